/** Hosts whose traffic is led to the gateway by the hosts file. */
import { useSignal } from "@preact/signals"
import type { AnswerOf } from "../../api/client.ts"
import { captureAddHost, captureEnableHost, captureHosts, captureRemoveHost } from "../../api/calls.generated.ts"
import { useAnswer } from "../../api/queries.ts"
import { opening, typing } from "../../ui/handlers.ts"
import { Answered } from "../../ui/Answered.tsx"
import { Danger } from "../../ui/dialogs/Danger.tsx"
import { State } from "../../ui/State.tsx"
import { toast } from "../../ui/toasts.tsx"
import { visible } from "../../ui/format.ts"
import { useWork } from "../../ui/useWork.ts"
import { words } from "../../words/inspector.ts"
import { ofCapture, refreshCapture } from "./Mode.tsx"

type Host = AnswerOf<typeof captureHosts>["hosts"][number]

/** Tells of what did not work although the host is kept. */
const warn = ({ warning }: { readonly warning?: string }): void => {
  if (warning !== undefined) toast("warning", warning)
}

const Row = ({ host }: { readonly host: Host }) => {
  const isAsked = useSignal(false)
  const { isBusy, run } = useWork(ofCapture)
  const enable = async (enabled: boolean): Promise<void> =>
    warn(await captureEnableHost({ path: { host: host.host }, body: { enabled } }))
  const remove = async (): Promise<void> => {
    await captureRemoveHost({ path: { host: host.host } })
    const { enabled, kind, label } = host
    toast("good", `${words.diff.op.remove}: ${host.host}`, {
      label: words.capture.start,
      run: () =>
        void run(() =>
          captureAddHost({ body: { host: host.host, enabled, kind, ...(label === null ? {} : { label }) } })
        )
    })
  }
  return (
    <li class="buttons">
      <span class="mono grow">{visible(host.host)}</span>
      <State kind={host.inHostsFile ? "trial" : "quiet"}>{host.enabled ? words.capture.on : words.capture.off}</State>
      <button
        type="button"
        class="button"
        disabled={isBusy.value}
        onClick={() => {
          if (host.enabled) void run(() => enable(false))
          else isAsked.value = true
        }}
      >
        {host.enabled ? words.capture.stop : words.capture.start}
      </button>
      <button type="button" class="button" disabled={isBusy.value} onClick={() => void run(remove)}>
        {words.sessions.remove}
      </button>
      <Danger
        title={words.capture.addHost}
        means={words.danger.hosts(visible(host.host))}
        name={host.host}
        verb={words.capture.start}
        {...opening(isAsked)}
        run={async () => {
          await enable(true)
          await refreshCapture()
        }}
      />
    </li>
  )
}

export const Hosts = () => {
  const hosts = useAnswer({ key: ["capture-hosts"], ask: (signal) => captureHosts({ signal }) })
  const typed = useSignal("")
  const { isBusy, run } = useWork(ofCapture)
  /** Kept switched off: switching it on asks first. */
  const add = async (): Promise<void> => {
    warn(await captureAddHost({ body: { host: typed.value, enabled: false } }))
    typed.value = ""
  }
  return (
    <div class="stack">
      <Answered of={hosts} height={40}>
        {({ hosts: all }) => (
          <ul class="stack" aria-label={words.capture.hosts}>
            {all.map((host) => (
              <Row key={host.host} host={host} />
            ))}
          </ul>
        )}
      </Answered>
      <form
        class="buttons"
        onSubmit={(event) => {
          event.preventDefault()
          void run(add)
        }}
      >
        <input
          class="input recording-name"
          aria-label={words.capture.host}
          placeholder={words.capture.hostHint}
          autocomplete="off"
          spellcheck={false}
          value={typed.value}
          onInput={typing(typed)}
        />
        <button type="submit" class="button" disabled={isBusy.value || typed.value.trim() === ""}>
          {words.capture.addHost}
        </button>
      </form>
    </div>
  )
}
