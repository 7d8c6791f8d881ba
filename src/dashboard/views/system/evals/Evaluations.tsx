/** Answers which model does one's own work best: suites of questions, runs of them, and how their results compare. */
import { useSignal } from "@preact/signals"
import { useRoute } from "preact-iso"
import { useCallback } from "preact/hooks"
import type { AnswerOf } from "../../../api/client.ts"
import { evalsOverview, evalsRemoveSuite } from "../../../api/calls.generated.ts"
import { refresh, useAnswer } from "../../../api/queries.ts"
import { useFeed } from "../../../live/feed.ts"
import type { FeedEvent } from "../../../live/socket.ts"
import { setting } from "../../../ui/handlers.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { Danger } from "../../../ui/dialogs/Danger.tsx"
import { Icon } from "../../../ui/Icon.tsx"
import { State } from "../../../ui/State.tsx"
import { Time } from "../../../ui/Time.tsx"
import { count, duration, money, percent, visible } from "../../../ui/format.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { words } from "../../../words/system/evals.ts"
import { Empty } from "../../../ui/parts/Empty.tsx"
import { Head } from "../parts/Head.tsx"
import { Table } from "../../../ui/parts/Table.tsx"
import { RunPage } from "./RunPage.tsx"
import { runKinds, RunProgress } from "./RunState.tsx"
import { RunSuite } from "./RunSuite.tsx"

type Overview = AnswerOf<typeof evalsOverview>
type Suite = Overview["suites"][number]
type Run = Overview["recentRuns"][number]

const Runs = ({ runs }: { readonly runs: ReadonlyArray<Run> }) => (
  <section class="stack" aria-label={words.runs}>
    <h2>{words.runs}</h2>
    {runs.length === 0 ? (
      <Empty text={words.noRuns} />
    ) : (
      <Table label={words.runs} columns={words.runColumns} numbers={[4, 5]}>
        {runs.map((run) => (
          <tr key={run.id}>
            <td>
              <Time at={run.startedAt} />
            </td>
            <td>
              <a href={placeOf(`system/evaluations/${run.id}`)}>{visible(run.suiteName)}</a>
            </td>
            <td>
              <code>{visible(run.target.id)}</code>
            </td>
            <td>
              <State kind={runKinds[run.status]}>{words.states[run.status]}</State>{" "}
              {run.status === "running" ? (
                <RunProgress run={run} />
              ) : (
                words.passed(run.summary.passed, run.summary.passed + run.summary.failed)
              )}
            </td>
            <td class="number">{run.summary.avgLatencyMs === null ? "–" : duration(run.summary.avgLatencyMs)}</td>
            <td class="number">{money(run.summary.costUsd)}</td>
          </tr>
        ))}
      </Table>
    )}
  </section>
)

const Scores = ({ scorecard }: { readonly scorecard: Overview["scorecard"] }) =>
  scorecard.targets.length === 0 ? null : (
    <section class="stack" aria-label={words.scores}>
      <h2>{words.scores}</h2>
      <Table label={words.scores} columns={words.scoreColumns} numbers={[1, 2, 3]}>
        {scorecard.targets.map(({ avgLatencyMs, costUsd, passRate, passed, target, total }) => (
          <tr key={`${target.type} ${target.id}`}>
            <td>
              <code>{visible(target.id)}</code> {target.type === "combo" && <span class="quiet">{words.combo}</span>}
            </td>
            <td class="number">
              <meter min={0} max={1} value={passRate} aria-label={words.passRate} /> {percent(passRate)}{" "}
              <span class="quiet">{words.passed(passed, total)}</span>
            </td>
            <td class="number">{avgLatencyMs === null ? "–" : duration(avgLatencyMs)}</td>
            <td class="number">{money(costUsd)}</td>
          </tr>
        ))}
      </Table>
    </section>
  )

interface SuitesProperties {
  readonly suites: ReadonlyArray<Suite>
  readonly onRun: (id: string) => void
  readonly onRemove: (suite: Suite) => void
}

const Suites = ({ onRemove, onRun, suites }: SuitesProperties) => (
  <section class="stack" aria-label={words.suites}>
    <div class="area-head">
      <h2>{words.suites}</h2>
      <a class="button" href={placeOf("system/evalsCreateSuite")}>
        <Icon name="add" /> {words.addSuite}
      </a>
    </div>
    <Table label={words.suites} columns={words.suiteColumns} numbers={[1]}>
      {suites.map((suite) => (
        <tr key={suite.id}>
          <td>
            {visible(suite.name)}
            <br />
            <code class="quiet">{visible(suite.id)}</code>
          </td>
          <td class="number">{count(suite.cases.length)}</td>
          <td>
            <span class="buttons">
              <button type="button" class="button" onClick={() => onRun(suite.id)}>
                {words.run}
              </button>
              {!suite.builtIn && (
                <>
                  <a
                    class="button plain"
                    href={`${placeOf("system/evalsUpdateSuite")}?id=${encodeURIComponent(suite.id)}`}
                  >
                    {words.edit}
                  </a>
                  <button type="button" class="button danger" onClick={() => onRemove(suite)}>
                    {words.remove}
                  </button>
                </>
              )}
            </span>
          </td>
        </tr>
      ))}
    </Table>
  </section>
)

const All = () => {
  const overview = useAnswer({ key: ["evals", "overview"], ask: (signal) => evalsOverview({ signal }) })
  /** Id of the suite that is to be run; empty: any. Null: none is asked about. */
  const running = useSignal<string | null>(null)
  const removing = useSignal<Suite | null>(null)
  useFeed(
    "jobs",
    useCallback(({ data }: FeedEvent) => {
      // A run that was begun elsewhere.
      if (data["kind"] === "evaluation" && data["done"] === 0) void refresh("evals")
    }, [])
  )
  return (
    <div class="stack">
      <Head title={words.title} hint={words.hint}>
        <button type="button" class="button main-action" onClick={setting(running, "")}>
          {words.runSuite}
        </button>
      </Head>
      <Answered of={overview} height={480}>
        {({ recentRuns, scorecard, suites }) => (
          <>
            <Runs runs={recentRuns} />
            <Scores scorecard={scorecard} />
            <Suites
              suites={suites}
              onRun={(id) => {
                running.value = id
              }}
              onRemove={(suite) => {
                removing.value = suite
              }}
            />
            <RunSuite suites={suites} chosen={running.value} onClose={setting(running, null)} />
          </>
        )}
      </Answered>
      <Danger
        title={words.removeTitle}
        means={words.removeMeans}
        name={removing.value?.name ?? ""}
        verb={words.remove}
        isOpen={removing.value !== null}
        onClose={setting(removing, null)}
        run={async () => {
          await evalsRemoveSuite({ path: { id: removing.value?.id ?? "" } })
          void refresh("evals")
        }}
      />
    </div>
  )
}

export const Evaluations = () => {
  const { part } = useRoute().params
  return part === undefined ? <All /> : <RunPage key={part} id={part} />
}
