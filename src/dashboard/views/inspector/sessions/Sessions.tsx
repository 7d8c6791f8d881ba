/** Recorded sessions: viewed, exported, renamed, deleted; archives of other programs are imported. */
import { useSignal } from "@preact/signals"
import { useLocation } from "preact-iso"
import type { AnswerOf } from "../../../api/client.ts"
import {
  inspectorChangeSession,
  inspectorImportSession,
  inspectorRemoveSession,
  inspectorSessions
} from "../../../api/calls.generated.ts"
import { refresh, useAnswer } from "../../../api/queries.ts"
import { opening, setting, submitting, typing } from "../../../ui/handlers.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { Danger } from "../../../ui/dialogs/Danger.tsx"
import { State } from "../../../ui/State.tsx"
import { Time } from "../../../ui/Time.tsx"
import { count, visible } from "../../../ui/format.ts"
import { useWork } from "../../../ui/useWork.ts"
import { toast } from "../../../ui/toasts.tsx"
import { words } from "../../../words/inspector.ts"
import { readArchive } from "./archive.ts"
import { inspectorPlace } from "../places.ts"
import { Recording } from "./Recording.tsx"

type Session = AnswerOf<typeof inspectorSessions>["sessions"][number]

const kinds = { recording: "bad", saved: "good", interrupted: "warning" } as const
const mostBytes = 100_000_000

const Name = ({ session }: { readonly session: Session }) => {
  const typed = useSignal<string | null>(null)
  const { isBusy, run } = useWork([])
  const rename = async (): Promise<void> => {
    await run(async () => {
      await inspectorChangeSession({ path: { id: session.id }, body: { action: "rename", name: typed.value ?? "" } })
      typed.value = null
      await refresh("inspector-sessions")
      toast("good", words.sessions.renamed)
    })
  }
  if (typed.value === null) {
    return (
      <span class="buttons">
        <a href={inspectorPlace("", { session: session.id })}>{visible(session.name ?? words.untitled)}</a>
        <button
          key="rename"
          type="button"
          class="button plain"
          onClick={() => {
            typed.value = session.name ?? ""
          }}
        >
          {words.sessions.rename}
        </button>
      </span>
    )
  }
  return (
    <form class="buttons" onSubmit={submitting(rename)}>
      <input
        class="input recording-name"
        aria-label={words.sessions.name}
        value={typed.value}
        onInput={typing(typed)}
      />
      <button key="save" type="submit" class="button" disabled={isBusy.value}>
        {words.sessions.rename}
      </button>
    </form>
  )
}

const Remove = ({ session }: { readonly session: Session }) => {
  const isOpen = useSignal(false)
  const name = session.name ?? session.id
  return (
    <>
      <button type="button" class="button danger" onClick={setting(isOpen, true)}>
        {words.sessions.remove}
      </button>
      <Danger
        title={words.sessions.removeTitle(visible(name))}
        means={words.sessions.removeMeans}
        name={name}
        verb={words.sessions.remove}
        {...opening(isOpen)}
        run={async () => {
          await inspectorRemoveSession({ path: { id: session.id } })
          await refresh("inspector-sessions")
        }}
      />
    </>
  )
}

const Row = ({ session }: { readonly session: Session }) => (
  <tr>
    <td>
      <Name session={session} />
    </td>
    <td>
      <State kind={kinds[session.state]}>{words.sessions.states[session.state]}</State>{" "}
      {session.truncated && <State kind="warning">{words.sessions.full}</State>}
    </td>
    <td>
      <Time at={session.startedAt} />
    </td>
    <td class="number">{count(session.requestCount)}</td>
    <td>
      <span class="buttons">
        <a class="button" href={inspectorPlace("", { session: session.id })}>
          {words.sessions.view}
        </a>
        <Remove session={session} />
      </span>
    </td>
  </tr>
)

const Import = () => {
  const { route } = useLocation()
  const problem = useSignal<string | null>(null)
  const { isBusy, problem: refused, run } = useWork(["inspector-sessions"], true)
  const take = async (file: File | undefined): Promise<void> => {
    problem.value = null
    if (file === undefined) return
    if (file.size > mostBytes) {
      problem.value = words.sessions.tooLarge
      return
    }
    await run(async () => {
      const read = readArchive(await file.text())
      if (read._tag === "Unknown") {
        problem.value = read.line === null ? words.sessions.notHar : words.sessions.notLine(read.line)
        return
      }
      const { session } = await inspectorImportSession({ body: read.archive })
      toast("good", words.sessions.imported(count(session.requestCount)))
      route(inspectorPlace("", { session: session.id }))
    })
    if (refused.value !== null) problem.value = refused.value.message
  }
  return (
    <div class="field">
      <label for="import-har">{words.sessions.import}</label>
      <input
        id="import-har"
        class="input"
        type="file"
        accept=".har,.json,.jsonl,application/json,application/jsonl"
        disabled={isBusy.value}
        aria-describedby="import-problem"
        onChange={(event) => {
          const [file] = event.currentTarget.files ?? []
          event.currentTarget.value = ""
          void take(file)
        }}
      />
      <p id="import-problem" class="problem" role="alert">
        {problem.value === null ? "" : visible(problem.value)}
      </p>
    </div>
  )
}

export const Sessions = () => {
  const sessions = useAnswer({ key: ["inspector-sessions"], ask: (signal) => inspectorSessions({ signal }) })
  return (
    <div class="stack">
      <div class="records-head">
        <Recording />
      </div>
      <Import />
      <Answered of={sessions} height={200}>
        {({ sessions: all }) =>
          all.length === 0 ? (
            <div class="empty">
              <p>{words.sessions.none}</p>
              <p class="quiet">{words.sessions.noneHint}</p>
            </div>
          ) : (
            <div class="scroller" tabIndex={0} role="region" aria-label={words.sessions.list}>
              <table class="plain-table">
                <thead>
                  <tr>
                    <th>{words.sessions.columns.name}</th>
                    <th>{words.sessions.columns.state}</th>
                    <th>{words.sessions.columns.started}</th>
                    <th class="number">{words.sessions.columns.requests}</th>
                    <th>{words.sessions.columns.actions}</th>
                  </tr>
                </thead>
                <tbody>
                  {all.map((session) => (
                    <Row key={session.id} session={session} />
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Answered>
    </div>
  )
}
