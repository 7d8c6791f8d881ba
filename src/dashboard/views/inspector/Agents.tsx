/** The agent bridge: coding agents that are led here, and which of their models this gateway answers. */
import { useSignal } from "@preact/signals"
import type { AnswerOf } from "../../api/client.ts"
import {
  agentBridgeAgentDns,
  agentBridgeDetectAgent,
  agentBridgeMappings,
  agentBridgeSetMappings,
  agentBridgeState
} from "../../api/calls.generated.ts"
import { refresh, useAnswer } from "../../api/queries.ts"
import { useWork } from "../../ui/useWork.ts"
import { opening, submitting } from "../../ui/handlers.ts"
import { Answered } from "../../ui/Answered.tsx"
import { Danger } from "../../ui/dialogs/Danger.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { State } from "../../ui/State.tsx"
import { visible } from "../../ui/format.ts"
import { toast } from "../../ui/toasts.tsx"
import { words } from "../../words/inspector.ts"
import { refreshCapture } from "./Mode.tsx"

type Agent = AnswerOf<typeof agentBridgeState>["agents"][number]
type Mapping = AnswerOf<typeof agentBridgeMappings>["mappings"][number]

const viabilityKinds = { routed: "good", recorded: "warning", investigating: "quiet" } as const

const Rows = ({ agent, saved }: { readonly agent: Agent; readonly saved: ReadonlyArray<Mapping> }) => {
  const rows = useSignal<ReadonlyArray<Mapping>>(saved)
  const change = (at: number, part: Partial<Mapping>): void => {
    rows.value = rows.value.map((row, index) => (index === at ? { ...row, ...part } : row))
  }
  const { isBusy, run } = useWork([])
  const save = async (): Promise<void> => {
    await run(async () => {
      await agentBridgeSetMappings({
        path: { id: agent.id },
        body: {
          mappings: rows.value.filter(({ sourceModel, targetModel }) => sourceModel !== "" || targetModel !== "")
        }
      })
      toast("good", words.agents.saved)
      await refresh("agent-mappings", agent.id)
    })
  }
  return (
    <form class="stack" onSubmit={submitting(save)}>
      {rows.value.map((row, index) => (
        <div key={index} class="mapping">
          <input
            class="input"
            aria-label={words.agents.source}
            placeholder={words.agents.source}
            list={`models-of-${agent.id}`}
            spellcheck={false}
            value={row.sourceModel}
            onInput={(event) => change(index, { sourceModel: event.currentTarget.value })}
          />
          <Icon name="next" />
          <input
            class="input"
            aria-label={words.agents.target}
            placeholder={words.agents.target}
            spellcheck={false}
            value={row.targetModel}
            onInput={(event) => change(index, { targetModel: event.currentTarget.value })}
          />
          <button
            type="button"
            class="button plain"
            aria-label={words.agents.remove}
            title={words.agents.remove}
            onClick={() => {
              rows.value = rows.value.filter((_row, at) => at !== index)
            }}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
      <datalist id={`models-of-${agent.id}`}>
        {agent.defaultModels.map(({ id }) => (
          <option key={id} value={id} />
        ))}
      </datalist>
      <div class="buttons">
        <button
          type="button"
          class="button"
          onClick={() => {
            rows.value = [...rows.value, { sourceModel: "", targetModel: "" }]
          }}
        >
          {words.agents.add}
        </button>
        <button type="submit" class="button" disabled={isBusy.value}>
          {words.agents.save}
        </button>
      </div>
    </form>
  )
}

/** Asked for when it is opened: one request an agent only for who wants to see it. */
const Mappings = ({ agent }: { readonly agent: Agent }) => {
  const isOpen = useSignal(false)
  const mappings = useAnswer({
    key: ["agent-mappings", agent.id],
    ask: (signal) => agentBridgeMappings({ path: { id: agent.id }, signal }),
    when: isOpen.value
  })
  return (
    <details
      onToggle={(event) => {
        isOpen.value = event.currentTarget.open
      }}
    >
      <summary>{words.agents.mappings}</summary>
      {isOpen.value && (
        <Answered of={mappings} height={48}>
          {({ mappings: saved }) => <Rows key={JSON.stringify(saved)} agent={agent} saved={saved} />}
        </Answered>
      )}
    </details>
  )
}

const One = ({ agent }: { readonly agent: Agent }) => {
  const isAsked = useSignal(false)
  const found = useSignal<string | null>(null)
  const { isBusy, run } = useWork([])
  const lead = async (enabled: boolean): Promise<void> => {
    const { warning } = await agentBridgeAgentDns({ path: { id: agent.id }, body: { enabled } })
    if (warning !== undefined) toast("warning", warning)
    await refreshCapture()
  }
  const detect = async (): Promise<void> => {
    const { installed, version } = await agentBridgeDetectAgent({ path: { id: agent.id } })
    found.value = installed ? words.agents.found(version ?? "") : words.agents.notFound
  }
  return (
    <section class="card mode" aria-label={agent.name}>
      <header class="view-head">
        <h2>{agent.name}</h2>
        <State kind={agent.dnsEnabled ? "trial" : "quiet"} icon={agent.dnsEnabled ? "live" : "none"}>
          {agent.dnsEnabled ? words.agents.enabled : words.agents.disabled}
        </State>
      </header>
      <p>
        <State kind={viabilityKinds[agent.viability]}>{words.agents.viability[agent.viability]}</State>{" "}
        {agent.setupCompleted && <State kind="good">{words.agents.ready}</State>}
      </p>
      <p class="mono quiet">{agent.hosts.join(", ")}</p>
      {agent.lastError !== null && <State kind="bad">{visible(agent.lastError)}</State>}
      <details>
        <summary>{words.agents.steps}</summary>
        <ol class="steps-list">
          {agent.setup.steps.map((step) => (
            <li key={step}>{visible(step)}</li>
          ))}
        </ol>
        <p class="quiet">
          {words.agents.risk}: {visible(agent.riskNotice)}
        </p>
      </details>
      <Mappings agent={agent} />
      <div class="buttons">
        <button
          type="button"
          class="button"
          disabled={isBusy.value}
          onClick={() => {
            if (agent.dnsEnabled) void run(() => lead(false))
            else isAsked.value = true
          }}
        >
          {agent.dnsEnabled ? words.agents.disable : words.agents.enable}
        </button>
        {agent.setup.detection !== null && (
          <button type="button" class="button" disabled={isBusy.value} onClick={() => void run(detect)}>
            {words.agents.detect}
          </button>
        )}
        {found.value !== null && <span role="status">{visible(found.value)}</span>}
      </div>
      <Danger
        title={words.agents.enable}
        means={words.danger.agent(agent.hosts.join(", "))}
        name={agent.name}
        verb={words.agents.enable}
        {...opening(isAsked)}
        run={() => lead(true)}
      />
    </section>
  )
}

export const Agents = () => {
  const bridge = useAnswer({ key: ["agent-bridge"], ask: (signal) => agentBridgeState({ signal }) })
  return (
    <Answered of={bridge} height={400}>
      {({ agents }) => (
        <div class="modes" role="region" aria-label={words.agents.list}>
          {agents.map((agent) => (
            <One key={agent.id} agent={agent} />
          ))}
        </div>
      )}
    </Answered>
  )
}
