/** Shows the audit log: one row for each request that may change something, with what was before and after it. */
import { useSignal } from "@preact/signals"
import { useLocation } from "preact-iso"
import type { AnswerOf } from "../../../api/client.ts"
import { auditList } from "../../../api/calls.generated.ts"
import { useAnswer } from "../../../api/queries.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { CopyAs } from "../../../ui/copy/CopyAs.tsx"
import { State } from "../../../ui/State.tsx"
import { Time } from "../../../ui/Time.tsx"
import { visible } from "../../../ui/format.ts"
import { words } from "../../../words/system/audit.ts"
import { Empty } from "../../../ui/parts/Empty.tsx"
import { Entry, Pick } from "../../../ui/parts/Entry.tsx"
import { Head } from "../parts/Head.tsx"
import { Pages, withQuery } from "../../../ui/parts/Pages.tsx"
import { Table } from "../../../ui/parts/Table.tsx"
import { Detail } from "./Detail.tsx"

type Row = AnswerOf<typeof auditList>[number]

const pageRows = 50

type Query = Readonly<Record<string, string>>

const offsetOf = (query: Query): number => {
  const offset = Number(query["offset"] ?? "0")
  return Number.isInteger(offset) && offset > 0 ? offset : 0
}

/** One row more than are shown says whether there is a page behind. */
const askedOf = (query: Query) => ({
  action: query["action"],
  actor: query["actor"],
  target: query["target"],
  status: query["status"],
  from: query["from"],
  to: query["to"],
  limit: pageRows + 1,
  offset: offsetOf(query)
})

const Filter = () => {
  const { path, query, route } = useLocation()
  const action = useSignal(query["action"] ?? "")
  const actor = useSignal(query["actor"] ?? "")
  const target = useSignal(query["target"] ?? "")
  const status = useSignal(query["status"] ?? "")
  const from = useSignal(query["from"] ?? "")
  const to = useSignal(query["to"] ?? "")
  const submit = (event: Event): void => {
    event.preventDefault()
    route(
      withQuery(
        path,
        {},
        {
          action: action.value.trim(),
          actor: actor.value.trim(),
          target: target.value.trim(),
          status: status.value,
          from: from.value,
          to: to.value
        }
      )
    )
  }
  return (
    <form class="card stack" role="search" aria-label={words.filter} onSubmit={submit}>
      <div class="parameters">
        <Entry name={words.action} value={action} placeholder="combos.*" />
        <Entry name={words.actor} value={actor} placeholder="apiKey:*" />
        <Entry name={words.target} value={target} />
        <Pick name={words.status} value={status} choices={words.statuses} />
        <Entry name={words.from} type="date" value={from} />
        <Entry name={words.to} type="date" value={to} />
      </div>
      <div class="buttons">
        <button type="submit" class="button main-action">
          {words.show}
        </button>
        <a class="button" href={path}>
          {words.all}
        </a>
      </div>
    </form>
  )
}

const AuditRow = ({ isOpen, row }: { readonly row: Row; readonly isOpen: boolean }) => {
  const { path, query } = useLocation()
  return (
    <>
      <tr>
        <td>
          <Time at={row.timestamp} />
        </td>
        <td>{visible(words.who(row.actor, row.details.apiKeyName))}</td>
        <td>
          <code>{visible(row.action)}</code>
        </td>
        <td class="wide-cell">{row.target === null ? words.nothing : <code>{visible(row.target)}</code>}</td>
        <td>
          <State kind={row.status === "success" ? "good" : "bad"}>
            {row.status === "success" ? words.done : words.refused(row.details.httpStatus)}
          </State>
        </td>
        <td>
          <a
            class="button plain"
            href={withQuery(path, query, { row: isOpen ? "" : row.id })}
            aria-expanded={isOpen}
            aria-label={words.about(isOpen ? words.less : words.more, visible(row.action))}
          >
            {isOpen ? words.less : words.more}
          </a>
        </td>
      </tr>
      {isOpen && (
        <tr>
          <td colSpan={6}>
            <Detail row={row} />
          </td>
        </tr>
      )}
    </>
  )
}

export const Audit = () => {
  const { query } = useLocation()
  const asked = askedOf(query)
  const list = useAnswer({ key: ["audit", asked], ask: (signal) => auditList({ query: asked, signal }) })
  const { offset } = asked
  return (
    <div class="stack">
      <Head title={words.title} hint={words.hint} />
      <CopyAs call={auditList} query={{ ...asked, limit: pageRows }} />
      <Filter key={JSON.stringify({ ...query, row: "", offset: "" })} />
      <Answered of={list} height={400}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty text={words.none} />
          ) : (
            <>
              <Table label={words.title} columns={words.columns}>
                {rows.slice(0, pageRows).map((row) => (
                  <AuditRow key={row.id} row={row} isOpen={query["row"] === row.id} />
                ))}
              </Table>
              <Pages
                name="offset"
                before={offset === 0 ? null : offset <= pageRows ? "" : String(offset - pageRows)}
                next={rows.length > pageRows ? String(offset + pageRows) : null}
              />
            </>
          )
        }
      </Answered>
    </div>
  )
}
