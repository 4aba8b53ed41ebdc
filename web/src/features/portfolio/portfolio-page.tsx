/** All models of a project, or of all projects, as one account. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { isMissing } from "~/api/problem";
import * as ask from "~/api/queries";
import type { Portfolio } from "~/api/types";
import { BenchmarkPanel } from "~/features/backtests/benchmark";
import { HaltButton } from "~/features/halting/halt-button";
import { gain, price } from "~/format/numbers";
import { useTitle } from "~/ui/address";
import { ButtonLink } from "~/ui/button";
import { NotFound } from "~/ui/page-error";
import { Empty, Failed, PageHead, Panel, Skeleton } from "~/ui/panel";
import { Allowed, useMay } from "~/ui/rights/allowed";
import { Choice } from "~/ui/select";
import { AccountFigure } from "./account-figure";
import { AttentionPanel } from "./attention-panel";
import { ContributionTable } from "./contribution-table";
import { CorrelationMatrix } from "./correlation-matrix";
import { ExposureList } from "./exposure-list";
import { Headlines } from "./headlines";
import { currenciesOf, isUnconverted, membersOf } from "./members";
import type { PortfolioSearch } from "./portfolio-search";
import { benchmarkOf, portfolio } from "./queries";

/** Of one project. */
export function ProjectPortfolioPage() {
  const { project = "" } = useParams({ strict: false });
  const { data: me } = useQuery(ask.me);
  const name = me?.projects.find((one) => one.id === project)?.name;
  return <PortfolioPage key={project} project={project} name={name ?? ""} />;
}

/** Of all projects of the reader. */
export function OwnPortfolioPage() {
  return <PortfolioPage project={null} name="All your projects" />;
}

function PortfolioPage({ project, name }: { project: string | null; name: string }) {
  const { currency = "" }: PortfolioSearch = useSearch({ strict: false });
  const { data, error, refetch } = useQuery(portfolio(project, currency));
  useTitle("Portfolio", name);
  if (isMissing(error)) return <NotFound />;
  return (
    <>
      <PageHead
        title="Portfolio"
        lead={name ? <bdi>{name}</bdi> : null}
        actions={
          <>
            {data && data.models.length > 0 && <CurrencyChoice found={data} />}
            <Scope project={project} />
            {project !== null && data && data.models.length > 0 && <HaltButton project={project} />}
          </>
        }
      />
      {error ? (
        <Failed error={error} retry={() => void refetch()} />
      ) : !data ? (
        <Skeleton rows={8} />
      ) : data.models.length === 0 ? (
        <NoModels project={project} />
      ) : (
        <Shown found={data} project={project} />
      )}
    </>
  );
}

function Shown({ found, project }: { found: Portfolio; project: string | null }) {
  const { data: me } = useQuery(ask.me);
  const members = useMemo(() => membersOf(found), [found]);
  const projects = useMemo(
    () => new Map(project === null ? me?.projects.map((one) => [one.id, one.name]) : []),
    [project, me],
  );
  const hasAccount = found.account_value !== null;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <AttentionPanel found={found} members={members} />
      {hasAccount ? (
        <>
          <Headlines found={found} />
          <AccountFigure found={found} project={project} />
          <BenchmarkPanel
            symbols={found.exposure.symbols.map(({ symbol }) => symbol)}
            comparing={benchmarkOf(project, found.currency)}
            canHold={false}
          />
        </>
      ) : (
        <NoAccount found={found} />
      )}
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 xl:grid-cols-[minmax(0,2fr)_minmax(0,1fr)]">
        <ContributionTable found={found} projects={projects} />
        <ExposureList found={found} members={members} />
      </div>
      {hasAccount && <CorrelationMatrix found={found.correlation} members={members} />}
      <Rates found={found} />
    </div>
  );
}

/** One click from a project to all of them, and back by the sidebar. */
function Scope({ project }: { project: string | null }) {
  const { data: me } = useQuery(ask.me);
  if (project === null || (me?.projects.length ?? 0) < 2) return null;
  return <ButtonLink to="/portfolio">All projects</ButtonLink>;
}

function CurrencyChoice({ found }: { found: Portfolio }) {
  const navigate = useNavigate();
  const names = currenciesOf(found);
  if (names.length < 2) return null;
  return (
    <Choice
      label="Currency"
      value={found.currency}
      options={names}
      choose={(currency) =>
        void navigate({
          to: ".",
          search: (old: object) => ({ ...old, currency }),
          resetScroll: false,
        })
      }
    />
  );
}

function NoModels({ project }: { project: string | null }) {
  return (
    <Panel>
      <Empty title="No strategies yet">
        <p>
          A portfolio adds up the strategies of a project. Deploy the first one, or connect one.
        </p>
        <p className="mt-3 flex flex-wrap justify-center gap-2">
          {project === null ? (
            <ButtonLink to="/">Open your project</ButtonLink>
          ) : (
            <Allowed project={project} right="change_models">
              <ButtonLink
                to="/$project"
                params={{ project }}
                search={{ connect: "yes" }}
                icon="key"
              >
                Connect a model
              </ButtonLink>
              <ButtonLink to="/$project/deploy" params={{ project }} weight="main" icon="upload">
                Deploy a model
              </ButtonLink>
            </Allowed>
          )}
        </p>
      </Empty>
    </Panel>
  );
}

/** Returns need a capital: leads to the form of the first model that lacks one. */
function NoAccount({ found }: { found: Portfolio }) {
  const poor = found.models.find((one) => one.capital === null && !one.in_account);
  const maySet = useMay(poor?.project_id ?? "", "manage");
  if (isUnconverted(found)) {
    return (
      <Panel title="Account value and drawdown">
        <Empty title={`No account value in ${found.currency}`}>
          There is no rate to {found.currency}. Choose another currency, or report the rate.
        </Empty>
      </Panel>
    );
  }
  return (
    <Panel title="Account value and drawdown">
      <Empty title="No account value yet">
        <p>{found.reason}</p>
        <p className="num mt-1">
          Profit and loss of all models: {gain(found.profit, found.currency)}.
        </p>
        {poor && maySet && (
          <p className="mt-3">
            <Link
              to="/$project/$model/settings"
              params={{ project: poor.project_id, model: poor.model_id }}
              className="link"
            >
              Set the capital of <bdi>{poor.name}</bdi>
            </Link>
          </p>
        )}
      </Empty>
    </Panel>
  );
}

/** The rates that amounts were converted by, and the currencies without one. */
function Rates({ found }: { found: Portfolio }) {
  if (found.rates.length === 0 && found.without_rate.length === 0) return null;
  const used = found.rates.map((one) => `${one.symbol} ${price(one.price)}`);
  return (
    <p className="text-sm text-soft">
      {used.length > 0 && `Converted by the newest reported rates: ${used.join(", ")}. `}
      {found.without_rate.length > 0 &&
        `Nothing in ${found.without_rate.join(", ")} is added up: there is no rate to ${found.currency}.`}
    </p>
  );
}
