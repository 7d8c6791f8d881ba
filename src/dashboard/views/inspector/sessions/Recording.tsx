/** Starts and stops the recording of a session; what is live goes on meanwhile. */
import { useSignal } from "@preact/signals"
import { useLocation } from "preact-iso"
import { inspectorChangeSession, inspectorSessions, inspectorStartSession } from "../../../api/calls.generated.ts"
import { useAnswer } from "../../../api/queries.ts"
import { useWork } from "../../../ui/useWork.ts"
import { typing } from "../../../ui/handlers.ts"
import { State } from "../../../ui/State.tsx"
import { count, visible } from "../../../ui/format.ts"
import { words } from "../../../words/inspector.ts"
import { inspectorPlace } from "../places.ts"

const recordsEveryMs = 2_000

export const Recording = () => {
  const { route } = useLocation()
  const name = useSignal("")
  const isRecording = useSignal(false)
  const { isBusy, run } = useWork(["inspector-sessions"])
  const sessions = useAnswer({
    key: ["inspector-sessions"],
    ask: (signal) => inspectorSessions({ signal }),
    ...(isRecording.value ? { everyMs: recordsEveryMs } : {})
  })
  const running = sessions.value.data?.sessions.find(({ state }) => state === "recording")
  if ((running !== undefined) !== isRecording.peek()) isRecording.value = running !== undefined
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
        <button key="stop" type="button" class="button" disabled={isBusy.value} onClick={() => void run(stop)}>
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
        void run(start)
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
      <button key="start" type="submit" class="button" disabled={isBusy.value}>
        {words.startRecording}
      </button>
    </form>
  )
}
