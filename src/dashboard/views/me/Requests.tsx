/** The key's own requests, a page at a time. */
import { useSignal } from "@preact/signals"
import type { AnswerOf } from "../../api/client.ts"
import { usageMeLogs } from "../../api/calls.generated.ts"
import { askAs } from "../../api/own.ts"
import { useAnswer } from "../../api/queries.ts"
import { Answered } from "../../ui/Answered.tsx"
import { State } from "../../ui/State.tsx"
import { Time } from "../../ui/Time.tsx"
import { count, duration, money, visible } from "../../ui/format.ts"
import { words } from "../../words/me.ts"

export type Row = AnswerOf<typeof usageMeLogs>["logs"][number]

const pageRows = 25
const kinds = { completed: "good", failed: "bad", aborted: "warning" } as const

const Line = ({ row }: { readonly row: Row }) => (
  <tr>
    <td>
      <Time at={row.timestamp} />
    </td>
    <td>{visible(row.requestedModel)}</td>
    <td>{row.provider === null ? "–" : visible(`${row.provider}/${row.model ?? ""}`)}</td>
    <td>
      <State kind={kinds[row.outcome]}>
        {row.status} {words.outcome[row.outcome]}
      </State>
    </td>
    <td class="number">{duration(row.latencyMs)}</td>
    <td class="number">{words.tokens(count(row.tokens.in), count(row.tokens.out))}</td>
    <td class="number">{money(row.costUsd)}</td>
  </tr>
)

/** The last requests as a table. */
export const Table = ({ rows }: { readonly rows: ReadonlyArray<Row> }) => (
  <div class="scroller" tabIndex={0} role="region" aria-label={words.log}>
    <table class="plain-table">
      <thead>
        <tr>
          <th>{words.columns.time}</th>
          <th>{words.columns.model}</th>
          <th>{words.columns.target}</th>
          <th>{words.columns.status}</th>
          <th class="number">{words.columns.latency}</th>
          <th class="number">{words.columns.tokens}</th>
          <th class="number">{words.columns.cost}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <Line key={row.id} row={row} />
        ))}
      </tbody>
    </table>
  </div>
)

export const Requests = () => {
  const cursor = useSignal<string | undefined>(undefined)
  const at = cursor.value
  const logs = useAnswer({
    key: ["own", "logs", at ?? null],
    ask: (signal) => askAs(usageMeLogs, { query: { limit: pageRows, cursor: at }, signal })
  })
  return (
    <section class="card">
      <h2>{words.log}</h2>
      <Answered of={logs} height={200}>
        {({ logs: rows, nextCursor }) =>
          rows.length === 0 && at === undefined ? (
            <p class="quiet">{words.none}</p>
          ) : (
            <>
              <Table rows={rows} />
              <div class="buttons">
                {at !== undefined && (
                  <button
                    key="newest"
                    type="button"
                    class="button"
                    onClick={() => {
                      cursor.value = undefined
                    }}
                  >
                    {words.newer}
                  </button>
                )}
                {nextCursor !== null && (
                  <button
                    key="older"
                    type="button"
                    class="button"
                    onClick={() => {
                      cursor.value = nextCursor
                    }}
                  >
                    {words.older}
                  </button>
                )}
              </div>
            </>
          )
        }
      </Answered>
    </section>
  )
}
