/** Starts and stops the recording of a session; what is live goes on meanwhile. */
import { useSignal } from "@preact/signals"
import { useLocation } from "preact-iso"
import { inspectorChangeSession, inspectorSessions, inspectorStartSession } from "../../api/calls.generated.ts"
import { refresh, useAnswer } from "../../api/queries.ts"
import { attempt } from "../../ui/work/attempt.ts"
import { typing } from "../../ui/handlers.ts"
import { State } from "../../ui/State.tsx"
import { count, visible } from "../../ui/format.ts"
import { words } from "../../words/inspector.ts"
import { inspectorPlace } from "./places.ts"

const recordsEveryMs = 2_000

export const Recording = () => {
  const { route } = useLocation()
  const name = useSignal("")
  const isRecording = useSignal(false)
  const sessions = useAnswer({
    key: ["inspector-sessions"],
    ask: (signal) => inspectorSessions({ signal }),
    ...(isRecording.value ? { everyMs: recordsEveryMs } : {})
  })
  const running = sessions.value.data?.sessions.find(({ state }) => state === "recording")
  if ((running !== undefined) !== isRecording.peek()) isRecording.value = running !== undefined
  const attemptSession = async (step: () => Promise<unknown>): Promise<void> => {
    await attempt(step)
    await refresh("inspector-sessions")
  }
  if (running !== undefined) {
    const stop = async (): Promise<void> => {
      await inspectorChangeSession({ path: { id: running.id }, body: { action: "stop" } })
      route(inspectorPlace("", { session: running.id }))
    }
    return (
      <span class="buttons">
        <State kind="bad" icon="live">
          {words.state.recording(visible(running.name ?? words.untitled), count(running.requestCount))}
        </State>
        <button key="stop" type="button" class="button" onClick={() => void attemptSession(stop)}>
          {words.stopRecording}
        </button>
      </span>
    )
  }
  const start = async (): Promise<void> => {
    await inspectorStartSession({ body: name.value.trim() === "" ? {} : { name: name.value.trim() } })
    name.value = ""
  }
  return (
    <form
      class="buttons"
      onSubmit={(event) => {
        event.preventDefault()
        void attemptSession(start)
      }}
    >
      <input
        class="input recording-name"
        aria-label={words.recordingName}
        placeholder={words.recordingName}
        autocomplete="off"
        value={name.value}
        onInput={typing(name)}
      />
      <button key="start" type="submit" class="button">
        {words.startRecording}
      </button>
    </form>
  )
}
