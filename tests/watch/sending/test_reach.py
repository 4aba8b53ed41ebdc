"""Messages leave for the public internet, and for what an operator adds to it."""

from ipaddress import ip_address

import pytest

from tapeline import settings
from tapeline.errors import InvalidSetting
from tapeline.watch.sending.reach import Reach, leads_here

PUBLIC = ["8.8.8.8", "1.1.1.1", "2606:4700:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
INSIDE = [
    "127.0.0.1", "127.8.9.1", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254",
    "100.64.0.1", "100.100.100.200", "192.0.0.192", "224.0.0.1", "239.255.255.250",
    "255.255.255.255",
    "168.63.129.16", "198.18.0.1", "::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1",
    "fd00:ec2::254", "ff02::1", "fec0::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
    "::ffff:169.254.169.254", "64:ff9b::7f00:1", "64:ff9b::a00:1", "2002:7f00:1::", "2002:a00:1::1",
    "64:ff9b:1::a00:1", "2001:0:7f00:1::", "::ffff:0:127.0.0.1", "::ffff:0:10.0.0.1",
    "localhost", "", "127.1", "2130706433", "0x7f.1",
]  # fmt: skip


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_allowed(address: str) -> None:
    assert Reach("").allows(address)


@pytest.mark.parametrize("address", INSIDE)
def test_addresses_inside_are_not(address: str) -> None:
    assert not Reach("").allows(address)


def test_an_operator_allows_networks_addresses_and_names() -> None:
    reach = Reach("10.0.0.0/8, 192.168.1.9, fd00::/8, mail.internal")
    assert reach.allows("10.200.0.1")
    assert reach.allows("::ffff:10.200.0.1")
    assert reach.allows("192.168.1.9")
    assert reach.allows("fd12::1")
    assert not reach.allows("192.168.1.8")
    assert not reach.allows("127.0.0.1")
    assert reach.names("Mail.Internal.")
    assert not reach.names("other.internal")
    assert not reach.names("mail.internal.example.org")


def test_public_addresses_of_this_machine_are_not_allowed_however_they_are_written() -> None:
    here = {ip_address("93.184.216.34"), ip_address("2606:4700::9")}
    reach = Reach("", is_here=here.__contains__)
    for one in ("93.184.216.34", "::ffff:93.184.216.34", "64:ff9b::5db8:d822", "2606:4700::9"):
        assert not reach.allows(one), one
    assert reach.allows("93.184.216.35")
    assert Reach("93.184.216.34", is_here=here.__contains__).allows("93.184.216.34")


def test_the_address_under_which_people_reach_the_server_is_not_allowed() -> None:
    reach = Reach("", ["93.184.216.34", "fe80::1%eth0"])
    assert not reach.allows("93.184.216.34")
    assert not reach.allows("::ffff:93.184.216.34")
    assert reach.allows("93.184.216.35")


def test_the_kernel_says_which_addresses_are_of_this_machine() -> None:
    assert leads_here(ip_address("127.0.0.1"))
    assert not leads_here(ip_address("93.184.216.34"))
    assert not leads_here(ip_address("2606:4700::9"))


@pytest.mark.parametrize(
    "wrong", ["10.0.0.0/99", "http://mail", "a b", "1.2.3.4.5/8", "10.0.0.0/8/8"]
)
def test_a_setting_that_is_neither_is_refused_at_the_start(wrong: str) -> None:
    with pytest.raises(InvalidSetting):
        settings.load({}, environ={"TAPELINE_ALERTS_MAY_REACH": wrong})
