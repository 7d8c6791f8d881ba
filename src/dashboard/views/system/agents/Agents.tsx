/** Answers how other agents meet this gateway: its own agent (A2A), and the agents of this machine (ACP). */
import type { AnswerOf } from "../../../api/client.ts"
import { a2aStatus, gatewaySettingsUpdate } from "../../../api/calls.generated.ts"
import { useAnswer } from "../../../api/queries.ts"
import { addressOf } from "../../../api/raw.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { Copyable } from "../../../ui/copy/Copyable.tsx"
import { type Kind, State } from "../../../ui/State.tsx"
import { count, visible } from "../../../ui/format.ts"
import { words } from "../../../words/system/agents.ts"
import { words as shared } from "../../../words/parts.ts"
import { Head } from "../parts/Head.tsx"
import { switchWith, useWork } from "../../../ui/useWork.ts"
import { AcpAgents } from "./AcpAgents.tsx"

type Status = AnswerOf<typeof a2aStatus>
type TaskState = keyof Status["tasks"]

/** Tasks are forgotten minutes after their end. */
const everyMs = 10_000

const kinds: Readonly<Record<TaskState, Kind>> = {
  submitted: "quiet",
  working: "trial",
  completed: "good",
  failed: "bad",
  canceled: "quiet",
  rejected: "warning"
}

const states = Object.keys(kinds) as ReadonlyArray<TaskState>

const Tasks = ({ tasks }: { readonly tasks: Status["tasks"] }) =>
  states.every((state) => tasks[state] === 0) ? (
    <p class="quiet">{words.noTasks}</p>
  ) : (
    <ul class="strip" aria-label={words.tasks}>
      {states
        .filter((state) => tasks[state] > 0)
        .map((state) => (
          <li key={state}>
            <State kind={kinds[state]}>
              {count(tasks[state])} {words.states[state]}
            </State>
          </li>
        ))}
    </ul>
  )

const OwnAgent = ({ status: { enabled, skills, tasks, url } }: { readonly status: Status }) => {
  const work = useWork(["a2a"])
  const { isBusy } = work
  const set = (a2aEnabled: boolean) => gatewaySettingsUpdate({ body: { a2aEnabled } })
  const change = (): Promise<void> => switchWith(work, enabled, set, { on: words.nowOn, off: words.nowOff })
  return (
    <section class="card stack" aria-label={words.own}>
      <div class="card-head">
        <h3>{words.own}</h3>
        <State kind={enabled ? "good" : "quiet"}>{enabled ? shared.on : shared.off}</State>
      </div>
      <p class="quiet">{enabled ? words.ownOn : words.ownOff}</p>
      {enabled && <Copyable text={url} />}
      <p>
        {words.can}{" "}
        {skills.map((skill) => (
          <code key={skill} class="chip">
            {visible(skill)}
          </code>
        ))}
      </p>
      <Tasks tasks={tasks} />
      <div class="buttons">
        <button
          type="button"
          class={enabled ? "button" : "button main-action"}
          disabled={isBusy.value}
          onClick={() => void change()}
        >
          {enabled ? words.switchOff : words.switchOn}
        </button>
        {enabled && (
          <a class="button" href={addressOf(".well-known/agent-card.json")} target="_blank" rel="noreferrer">
            {words.card}
          </a>
        )}
      </div>
    </section>
  )
}

export const Agents = () => {
  const status = useAnswer({ key: ["a2a"], ask: (signal) => a2aStatus({ signal }), everyMs })
  return (
    <div class="stack">
      <Head title={words.title} hint={words.hint} />
      <Answered of={status} height={200}>
        {(answer) => <OwnAgent status={answer} />}
      </Answered>
      <AcpAgents />
    </div>
  )
}
