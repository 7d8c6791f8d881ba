/** Calls of tools: which key called what, how it ended. What was given is kept as a hash only. */
import { useSignal } from "@preact/signals"
import { useLocation } from "preact-iso"
import { mcpAudit } from "../../../api/calls.generated.ts"
import { useAnswer } from "../../../api/queries.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { State } from "../../../ui/State.tsx"
import { Time } from "../../../ui/Time.tsx"
import { duration, visible } from "../../../ui/format.ts"
import { words } from "../../../words/system/mcp.ts"
import { Empty } from "../../../ui/parts/Empty.tsx"
import { Entry } from "../../../ui/parts/Entry.tsx"
import { Pages, withQuery } from "../../../ui/parts/Pages.tsx"
import { Table } from "../../../ui/parts/Table.tsx"

const pageRows = 50

export const Calls = () => {
  const { path, query, route } = useLocation()
  const tool = query["tool"] ?? ""
  const typed = useSignal(tool)
  const offset = Math.max(0, Number(query["offset"] ?? "0") || 0)
  const list = useAnswer({
    key: ["mcp", "calls", tool, offset],
    ask: (signal) => mcpAudit({ query: { tool, limit: pageRows + 1, offset }, signal })
  })
  return (
    <section class="stack" aria-label={words.partNames.calls}>
      <form
        role="search"
        onSubmit={(event) => {
          event.preventDefault()
          route(withQuery(path, {}, { tool: typed.value.trim() }))
        }}
      >
        <Entry name={words.ofTool} type="search" value={typed} hint={words.ofToolHint} />
      </form>
      <Answered of={list} height={200}>
        {({ calls }) =>
          calls.length === 0 ? (
            <Empty text={words.noCalls} />
          ) : (
            <>
              <Table label={words.partNames.calls} columns={words.callColumns} numbers={[3]}>
                {calls.slice(0, pageRows).map((call) => (
                  <tr key={call.id}>
                    <td>
                      <Time at={call.timestamp} />
                    </td>
                    <td>
                      <code>{visible(call.tool)}</code>
                    </td>
                    <td>{call.apiKeyId === null ? words.noKey : <code>{visible(call.apiKeyId)}</code>}</td>
                    <td class="number">{duration(call.durationMs)}</td>
                    <td>
                      <State kind={call.success ? "good" : "bad"}>{visible(call.outputSummary)}</State>
                    </td>
                    <td>
                      <code class="quiet" title={call.inputHash}>
                        {visible(call.inputHash.slice(0, 12))}
                      </code>
                    </td>
                  </tr>
                ))}
              </Table>
              <Pages
                name="offset"
                before={offset === 0 ? null : offset <= pageRows ? "" : String(offset - pageRows)}
                next={calls.length > pageRows ? String(offset + pageRows) : null}
              />
            </>
          )
        }
      </Answered>
    </section>
  )
}
