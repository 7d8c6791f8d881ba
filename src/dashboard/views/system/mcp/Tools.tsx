/** Tools that agents find here, with what they change and the scopes that a key needs for them. */
import { useSignal } from "@preact/signals"
import type { AnswerOf } from "../../../api/client.ts"
import { mcpTools } from "../../../api/calls.generated.ts"
import { useAnswer } from "../../../api/queries.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { type Kind, State } from "../../../ui/State.tsx"
import { visible } from "../../../ui/format.ts"
import { words } from "../../../words/system/mcp.ts"
import { Empty } from "../../../ui/parts/Empty.tsx"
import { Entry } from "../../../ui/parts/Entry.tsx"
import { Table } from "../../../ui/parts/Table.tsx"

type Tool = AnswerOf<typeof mcpTools>["tools"][number]

/** Servers of others may bring any number of tools. */
const mostShown = 200

const kinds: Readonly<Record<Tool["effect"], Kind>> = { read: "quiet", write: "warning", destroy: "bad" }

const matches = ({ description, name, scopes, title }: Tool, text: string): boolean =>
  `${name} ${title} ${description} ${scopes.join(" ")}`.toLowerCase().includes(text.toLowerCase())

export const Tools = () => {
  const search = useSignal("")
  const list = useAnswer({ key: ["mcp", "tools"], ask: (signal) => mcpTools({ signal }) })
  return (
    <section class="stack" aria-label={words.partNames.tools}>
      <Entry name={words.search} type="search" value={search} />
      <Answered of={list} height={320}>
        {({ tools }) => {
          const found = tools.filter((tool) => matches(tool, search.value.trim()))
          if (found.length === 0) return <Empty text={words.noTools} />
          return (
            <>
              <p class="quiet" role="status">
                {words.found(found.length)}
                {found.length > mostShown && ` ${words.firstOnly(mostShown)}`}
              </p>
              <Table label={words.partNames.tools} columns={words.toolColumns}>
                {found.slice(0, mostShown).map((tool) => (
                  <tr key={tool.name}>
                    <td>
                      <code>{visible(tool.name)}</code>
                      {tool.server !== null && (
                        <>
                          <br />
                          <span class="quiet">{words.of(visible(tool.server))}</span>
                        </>
                      )}
                    </td>
                    <td class="wide-cell">{visible(tool.title === "" ? tool.description : tool.title)}</td>
                    <td>
                      <State kind={kinds[tool.effect]}>{words.effects[tool.effect]}</State>
                    </td>
                    <td>
                      {tool.scopes.map((scope) => (
                        <code key={scope} class="chip">
                          {visible(scope)}
                        </code>
                      ))}
                    </td>
                  </tr>
                ))}
              </Table>
            </>
          )
        }}
      </Answered>
    </section>
  )
}
