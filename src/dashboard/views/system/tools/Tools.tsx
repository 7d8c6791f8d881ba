/** Answers which coding tools use this gateway, and how one is set up. Tools that take no address of a gateway are not shown. */
import { useLocation, useRoute } from "preact-iso"
import { useSignal } from "@preact/signals"
import { cliToolsList, cliToolsStatuses } from "../../../api/calls.generated.ts"
import { type Result, useAnswer } from "../../../api/queries.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { State } from "../../../ui/State.tsx"
import { visible } from "../../../ui/format.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { words } from "../../../words/system/tools.ts"
import { Empty } from "../../../ui/parts/Empty.tsx"
import { Entry } from "../../../ui/parts/Entry.tsx"
import { Head } from "../parts/Head.tsx"
import { withQuery } from "../../../ui/parts/Pages.tsx"
import { shownTools } from "./shown.ts"
import { ToolPage } from "./ToolPage.tsx"
import { type Statuses, type Tool, ToolState, type ToolStatus } from "./ToolState.tsx"

interface CardProperties {
  readonly tool: Tool
  readonly status: ToolStatus | undefined
  readonly isLooking: boolean
}

const Card = ({ isLooking, status, tool }: CardProperties) => (
  <li class="card stack">
    <div class="card-head">
      <h3>
        <span class="swatch" aria-hidden="true" style={{ background: tool.color }} />
        <a href={placeOf(`system/tools/${tool.id}`)}>{visible(tool.name)}</a>
      </h3>
      {(status !== undefined || isLooking) && <ToolState status={status} />}
    </div>
    <p class="quiet">
      {tool.vendor === "" ? "" : `${visible(tool.vendor)} · `}
      {visible(tool.description)}
    </p>
    {tool.baseUrlSupport === "partial" && <State kind="warning">{words.partial}</State>}
  </li>
)

const All = ({ statuses, tools }: { tools: ReadonlyArray<Tool>; statuses: Result<Statuses> }) => {
  const { path, query, route } = useLocation()
  const typed = useSignal(query["q"] ?? "")
  const found = shownTools(tools, query["q"] ?? "")
  const known = statuses.data ?? {}
  const order = (tool: Tool): number => (known[tool.id]?.detection.installed === true ? 0 : 1)
  return (
    <div class="stack">
      <form
        role="search"
        onSubmit={(event) => {
          event.preventDefault()
          route(withQuery(path, {}, { q: typed.value.trim() }), true)
        }}
      >
        <Entry name={words.search} type="search" value={typed} hint={words.searchHint} />
      </form>
      {found.length === 0 ? (
        <Empty text={words.none} />
      ) : (
        <ul class="cards">
          {found
            .toSorted((one, other) => order(one) - order(other))
            .map((tool) => (
              <Card key={tool.id} tool={tool} status={known[tool.id]} isLooking={statuses.data === undefined} />
            ))}
        </ul>
      )}
    </div>
  )
}

export const Tools = () => {
  const { part } = useRoute().params
  const list = useAnswer({ key: ["tools"], ask: (signal) => cliToolsList({ signal }) })
  const statuses = useAnswer({ key: ["tools", "statuses"], ask: (signal) => cliToolsStatuses({ signal }) })
  return (
    <Answered of={list} height={480}>
      {({ tools }) => {
        const chosen = shownTools(tools, "").find(({ id }) => id === part)
        if (chosen !== undefined) {
          return <ToolPage key={chosen.id} tool={chosen} status={statuses.value.data?.[chosen.id]} />
        }
        return (
          <div class="stack">
            <Head title={words.title} hint={words.hint} />
            {part !== undefined && <State kind="warning">{words.unknown}</State>}
            <All tools={tools} statuses={statuses.value} />
          </div>
        )
      }}
    </Answered>
  )
}
