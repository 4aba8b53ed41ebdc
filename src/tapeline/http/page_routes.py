"""Every address that shows a page or takes a form, in one list."""

from tapeline.http.pages import settings, sign_in
from tapeline.http.pages.page import Page
from tapeline.http.pages.web_app import APP_PAGES
from tapeline.http.sharing.public_pages import SHARED_PAGES

PAGES = (
    Page("GET", "/", sign_in.show_home),
    Page("GET", "/auth/signin", sign_in.show_sign_in),
    Page("GET", "/auth/signin/form", sign_in.back_to_sign_in),
    Page("POST", "/auth/signin/form", sign_in.sign_in),
    Page("GET", "/auth/signup", sign_in.show_sign_up),
    Page("GET", "/auth/signup/form", sign_in.back_to_sign_up),
    Page("POST", "/auth/signup/form", sign_in.sign_up),
    Page("GET", "/auth/signout/form", sign_in.back_to_sign_in),
    Page("POST", "/auth/signout/form", sign_in.sign_out),
    Page("GET", "/auth/invitation/{secret}", sign_in.show_invitation),
    Page("POST", "/auth/invitation/{secret}", sign_in.accept_invitation),
    Page("GET", "/deploy", sign_in.show_deploy),
    Page("POST", "/deploy", sign_in.deploy),
    Page("GET", "/settings", settings.show_settings),
    Page("GET", "/settings/password", sign_in.back_to_settings),
    Page("POST", "/settings/password", settings.change_password),
    Page("GET", "/settings/sign-ins/end", sign_in.back_to_settings),
    Page("POST", "/settings/sign-ins/end", settings.end_other_sign_ins),
    Page("GET", "/settings/sign-ins/{sign_in}/end", sign_in.back_to_settings),
    Page("POST", "/settings/sign-ins/{sign_in}/end", settings.end_sign_in),
    *SHARED_PAGES,
    *APP_PAGES,
)
