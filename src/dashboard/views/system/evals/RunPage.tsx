/** One run: how far it is, how it went case by case, and beside it the run over the other target. */
import { useCallback } from "preact/hooks"
import type { AnswerOf } from "../../../api/client.ts"
import { evalsCancel, evalsRun } from "../../../api/calls.generated.ts"
import { refresh, useAnswer } from "../../../api/queries.ts"
import { useFeed } from "../../../live/feed.ts"
import type { FeedEvent } from "../../../live/socket.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { State } from "../../../ui/State.tsx"
import { count, duration, exact, money, percent, visible } from "../../../ui/format.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { words } from "../../../words/system/evals.ts"
import { words as shared } from "../../../words/parts.ts"
import { Empty } from "../../../ui/parts/Empty.tsx"
import { Head } from "../parts/Head.tsx"
import { Table } from "../../../ui/parts/Table.tsx"
import { useWork } from "../../../ui/useWork.ts"
import { runKinds, RunProgress } from "./RunState.tsx"

type Report = AnswerOf<typeof evalsRun>["run"]
type Comparison = NonNullable<Report["comparison"]>
type Case = Report["cases"][number]

/** Time in ms between two questions for the cases of a run, while it runs. */
const everyMs = 2_000

const Column = ({
  of,
  title
}: {
  readonly title: string
  readonly of: Pick<Report, "target" | "summary" | "status">
}) => (
  <section class="card stack" aria-label={title}>
    <div class="card-head">
      <h3>
        <code>{visible(of.target.id)}</code>
      </h3>
      <State kind={runKinds[of.status]}>{words.states[of.status]}</State>
    </div>
    <span class="strip">
      <strong>{percent(of.summary.passRate)}</strong>
      <span>{words.passed(of.summary.passed, of.summary.passed + of.summary.failed)}</span>
      <span>{of.summary.avgLatencyMs === null ? "–" : duration(of.summary.avgLatencyMs)}</span>
      <span>{money(of.summary.costUsd)}</span>
    </span>
  </section>
)

const Verdict = ({ comparison, id }: { readonly id: string; readonly comparison: Comparison | null }) => {
  if (comparison === null) return null
  if (comparison.onlyHere.includes(id)) return <State kind="good">{words.onlyHere}</State>
  if (comparison.onlyThere.includes(id)) return <State kind="bad">{words.onlyThere}</State>
  return <span class="quiet">{words.same}</span>
}

const CaseRow = ({ comparison, of }: { readonly of: Case; readonly comparison: Comparison | null }) => (
  <tr>
    <td>
      {visible(of.name)}
      <br />
      <a class="quiet" href={placeOf(`requests/${of.requestId}`)}>
        {words.request}
      </a>
    </td>
    <td>
      <State kind={of.passed ? "good" : "bad"}>{of.passed ? words.pass : words.fail}</State>
      {of.reason !== null && <p class="quiet">{visible(of.reason)}</p>}
    </td>
    <td class="wide-cell told">
      {of.output === null ? <span class="quiet">{words.noOutput}</span> : visible(of.output)}
    </td>
    <td class="number">{duration(of.latencyMs)}</td>
    <td class="number">{money(of.costUsd)}</td>
    {comparison !== null && (
      <td>
        <Verdict comparison={comparison} id={of.id} />
      </td>
    )}
  </tr>
)

const Cases = ({ run }: { readonly run: Report }) =>
  run.cases.length === 0 ? (
    <Empty text={run.status === "running" ? words.noCasesYet : words.noCases} />
  ) : (
    <Table
      label={words.cases}
      columns={run.comparison === null ? words.caseColumns : [...words.caseColumns, words.compared]}
      numbers={[3, 4]}
    >
      {run.cases.map((each) => (
        <CaseRow key={each.id} of={each} comparison={run.comparison} />
      ))}
    </Table>
  )

const Whole = ({ run }: { readonly run: Report }) => {
  const { isBusy, run: work } = useWork(["evals"])
  return (
    <>
      <Head title={visible(run.suiteName)} hint={words.begun(exact(run.startedAt), visible(run.target.id))}>
        {run.status === "running" && (
          <button
            type="button"
            class="button danger"
            disabled={isBusy.value}
            onClick={() => void work(() => evalsCancel({ path: { id: run.id } }), words.cancelled)}
          >
            {words.cancel}
          </button>
        )}
      </Head>
      {run.status === "running" && <RunProgress run={run} />}
      {run.reason !== null && (
        <p class="problem" role="status">
          {visible(run.reason)}
        </p>
      )}
      <div class="columns">
        <Column title={words.here} of={run} />
        {run.comparison !== null && <Column title={words.there} of={run.comparison} />}
      </div>
      {run.comparison !== null && (
        <p>
          {words.difference(count(run.comparison.onlyHere.length), count(run.comparison.onlyThere.length))}{" "}
          <a href={placeOf(`system/evaluations/${run.comparison.runId}`)}>{words.otherRun}</a>
        </p>
      )}
      <Cases run={run} />
    </>
  )
}

export const RunPage = ({ id }: { readonly id: string }) => {
  const report = useAnswer({ key: ["evals", "run", id], ask: (signal) => evalsRun({ path: { id }, signal }) })
  const isRunning =
    report.value.data?.run.status === "running" || report.value.data?.run.comparison?.status === "running"
  // The same question, asked anew every so often while it runs.
  useAnswer({
    key: ["evals", "run", id],
    ask: (signal) => evalsRun({ path: { id }, signal }),
    when: isRunning,
    everyMs
  })
  useFeed(
    "jobs",
    useCallback(
      ({ data }: FeedEvent) => {
        if (data["kind"] === "evaluation" && data["id"] === id && data["state"] !== "running") void refresh("evals")
      },
      [id]
    )
  )
  return (
    <div class="stack">
      <p>
        <a href={placeOf("system/evaluations")}>{shared.back}</a>
      </p>
      <Answered of={report} height={480}>
        {({ run }) => <Whole run={run} />}
      </Answered>
    </div>
  )
}
