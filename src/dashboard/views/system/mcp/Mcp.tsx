/** Answers which tools agents find here: the gateway's own MCP server, servers of others, their tools, and what was called. */
import { useLocation, useRoute } from "preact-iso"
import {
  gatewaySettingsUpdate,
  mcpAudit,
  mcpRestart,
  mcpServersList,
  mcpStatus,
  mcpTools
} from "../../../api/calls.generated.ts"
import type { AnswerOf } from "../../../api/client.ts"
import { useAnswer } from "../../../api/queries.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { CopyAs } from "../../../ui/copy/CopyAs.tsx"
import { Copyable } from "../../../ui/copy/Copyable.tsx"
import { State } from "../../../ui/State.tsx"
import { Time } from "../../../ui/Time.tsx"
import { count, duration, percent, visible } from "../../../ui/format.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { words } from "../../../words/system/mcp.ts"
import { words as shared } from "../../../words/parts.ts"
import { Facts } from "../../../ui/parts/Facts.tsx"
import { Head } from "../parts/Head.tsx"
import { switchWith, useWork } from "../../../ui/useWork.ts"
import { Calls } from "./Calls.tsx"
import { Servers } from "./Servers.tsx"
import { Tools } from "./Tools.tsx"

type Status = AnswerOf<typeof mcpStatus>

const parts = ["servers", "tools", "calls"] as const
type Part = (typeof parts)[number]

const Own = ({ status }: { readonly status: Status }) => {
  const { activity, enabled, httpTransport, online, scopesEnforced } = status
  return (
    <section class="card stack" aria-label={words.own}>
      <div class="card-head">
        <h3>{words.own}</h3>
        <State kind={online ? "good" : "quiet"}>{online ? shared.on : shared.off}</State>
      </div>
      {enabled ? <Copyable text={httpTransport.url} /> : <p>{words.off}</p>}
      <Facts
        rows={[
          [words.sessions, count(httpTransport.sessions)],
          [words.tools, count(status.tools)],
          [words.scopes, scopesEnforced ? words.enforced : <State kind="warning">{words.notEnforced}</State>],
          [words.callsToday, count(activity.totalCalls24h)],
          [words.succeeded, activity.successRate === null ? "–" : percent(activity.successRate)],
          [words.average, activity.avgDurationMs === null ? "–" : duration(activity.avgDurationMs)],
          [
            words.lastCall,
            activity.lastCallAt === null ? (
              "–"
            ) : (
              <>
                <code>{visible(activity.lastCallTool ?? "")}</code> <Time at={activity.lastCallAt} />
              </>
            )
          ]
        ]}
      />
    </section>
  )
}

const Buttons = ({ enabled }: { readonly enabled: boolean }) => {
  const work = useWork(["mcp"])
  const { isBusy, run } = work
  const set = (mcpEnabled: boolean) => gatewaySettingsUpdate({ body: { mcpEnabled } })
  const change = (): Promise<void> => switchWith(work, enabled, set, { on: words.nowOn, off: words.nowOff })
  return (
    <>
      <button
        key="switch"
        type="button"
        class={enabled ? "button" : "button main-action"}
        disabled={isBusy.value}
        onClick={() => void change()}
      >
        {enabled ? words.switchOff : words.switchOn}
      </button>
      {enabled && (
        <button
          key="restart"
          type="button"
          class="button"
          disabled={isBusy.value}
          title={words.restartHint}
          onClick={() => void run(() => mcpRestart(), words.restarted)}
        >
          {words.restart}
        </button>
      )}
    </>
  )
}

const Tabs = ({ chosen }: { readonly chosen: Part }) => (
  <nav class="areas" aria-label={words.parts}>
    {parts.map((part) => (
      <a key={part} href={placeOf(`system/mcp/${part}`)} aria-current={part === chosen ? "page" : undefined}>
        {words.partNames[part]}
      </a>
    ))}
  </nav>
)

export const Mcp = () => {
  const { part } = useRoute().params
  const { query } = useLocation()
  const chosen = parts.find((each) => each === part) ?? "servers"
  const status = useAnswer({ key: ["mcp", "status"], ask: (signal) => mcpStatus({ signal }) })
  return (
    <div class="stack">
      <Head title={words.title} hint={words.hint}>
        {status.value.data !== undefined && <Buttons enabled={status.value.data.enabled} />}
      </Head>
      <CopyAs call={chosen === "servers" ? mcpServersList : chosen === "tools" ? mcpTools : mcpAudit} />
      <Answered of={status} height={220}>
        {(answer) => <Own status={answer} />}
      </Answered>
      <Tabs chosen={chosen} />
      {chosen === "servers" && <Servers cursor={query["cursor"] ?? ""} />}
      {chosen === "tools" && <Tools />}
      {chosen === "calls" && <Calls />}
    </div>
  )
}
