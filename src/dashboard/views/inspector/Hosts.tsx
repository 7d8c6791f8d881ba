/** Hosts whose traffic is led to the gateway by the hosts file. */
import { useSignal } from "@preact/signals"
import type { AnswerOf } from "../../api/client.ts"
import { captureAddHost, captureEnableHost, captureHosts, captureRemoveHost } from "../../api/calls.generated.ts"
import { useAnswer } from "../../api/queries.ts"
import { Answered } from "../../ui/Answered.tsx"
import { Danger } from "../../ui/Danger.tsx"
import { State } from "../../ui/State.tsx"
import { toast } from "../../ui/toasts.tsx"
import { visible } from "../../ui/format.ts"
import { words } from "../../words/inspector.ts"
import { refreshCapture } from "./Mode.tsx"

type Host = AnswerOf<typeof captureHosts>["hosts"][number]

/** Tells of what did not work although the host is kept. */
const warn = ({ warning }: { readonly warning?: string }): void => {
  if (warning !== undefined) toast("warning", warning)
}

const attempt = async (change: () => Promise<unknown>): Promise<void> => {
  try {
    await change()
  } catch (error) {
    toast("bad", (error as Error).message)
  }
  await refreshCapture()
}

const Row = ({ host }: { readonly host: Host }) => {
  const isAsked = useSignal(false)
  const enable = async (enabled: boolean): Promise<void> =>
    warn(await captureEnableHost({ path: { host: host.host }, body: { enabled } }))
  const remove = async (): Promise<void> => {
    await captureRemoveHost({ path: { host: host.host } })
    const { enabled, kind, label } = host
    toast("good", `${words.diff.op.remove}: ${host.host}`, {
      label: words.capture.start,
      run: () =>
        void attempt(() =>
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
        onClick={() => {
          if (host.enabled) void attempt(() => enable(false))
          else isAsked.value = true
        }}
      >
        {host.enabled ? words.capture.stop : words.capture.start}
      </button>
      <button type="button" class="button" onClick={() => void attempt(remove)}>
        {words.sessions.remove}
      </button>
      <Danger
        title={words.capture.addHost}
        means={words.danger.hosts(visible(host.host))}
        name={host.host}
        verb={words.capture.start}
        isOpen={isAsked.value}
        onClose={() => {
          isAsked.value = false
        }}
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
          void attempt(add)
        }}
      >
        <input
          class="input recording-name"
          aria-label={words.capture.host}
          placeholder={words.capture.hostHint}
          autocomplete="off"
          spellcheck={false}
          value={typed.value}
          onInput={(event) => {
            typed.value = event.currentTarget.value
          }}
        />
        <button type="submit" class="button" disabled={typed.value.trim() === ""}>
          {words.capture.addHost}
        </button>
      </form>
    </div>
  )
}
