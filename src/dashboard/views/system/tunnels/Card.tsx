/** A tunnel: its state, its address, what it cannot carry, and the question before it is opened or closed. */
import { type Signal, useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import type { AnswerOf } from "../../../api/client.ts"
import type { tunnelsList } from "../../../api/calls.generated.ts"
import { refresh } from "../../../api/queries.ts"
import { checking, setting } from "../../../ui/handlers.ts"
import { Copyable } from "../../../ui/copy/Copyable.tsx"
import { Danger } from "../../../ui/dialogs/Danger.tsx"
import { type Kind, State } from "../../../ui/State.tsx"
import { Time } from "../../../ui/Time.tsx"
import { count, visible } from "../../../ui/format.ts"
import { words } from "../../../words/system/tunnels.ts"
import { Facts } from "../../../ui/parts/Facts.tsx"

export type Tunnel = AnswerOf<typeof tunnelsList>["tunnels"][number]

const kinds: Readonly<Record<Tunnel["phase"], Kind>> = {
  stopped: "quiet",
  starting: "warning",
  running: "good",
  needs_auth: "warning",
  error: "bad"
}

interface Properties {
  readonly tunnel: Tunnel
  /** Fields for opening it. */
  readonly children?: ComponentChildren
  /** Fields for closing it. */
  readonly closing?: ComponentChildren
  readonly allowKeyless: Signal<boolean>
  readonly open: () => Promise<unknown>
  readonly close: () => Promise<unknown>
}

const About = ({ tunnel }: { readonly tunnel: Tunnel }) => (
  <>
    {tunnel.apiUrl !== null && <Copyable text={tunnel.apiUrl} />}
    {tunnel.lastError !== null && (
      <p class="problem" role="alert">
        {visible(tunnel.lastError)}
      </p>
    )}
    {tunnel.phase !== "stopped" && (
      <Facts
        rows={[
          [words.since, <Time at={tunnel.since} />],
          [words.restarts, count(tunnel.restarts)],
          [words.keyless, tunnel.allowKeyless ? words.keylessYes : words.keylessNo]
        ]}
      />
    )}
    {tunnel.warning !== null && <p class="quiet">{visible(tunnel.warning)}</p>}
  </>
)

export const TunnelCard = ({ allowKeyless, children, close, closing, open, tunnel }: Properties) => {
  const asked = useSignal<"open" | "close" | null>(null)
  const isOpen = tunnel.phase === "running" || tunnel.phase === "starting"
  const { name, what } = words.backends[tunnel.backend]
  const isOpening = asked.value === "open"
  return (
    <section class="card stack" aria-label={name}>
      <div class="card-head">
        <h3>{name}</h3>
        <State kind={kinds[tunnel.phase]}>{words.phases[tunnel.phase]}</State>
      </div>
      <p class="quiet">{what}</p>
      <About tunnel={tunnel} />
      {isOpen ? closing : children}
      {!isOpen && (
        <label class="tick">
          <input type="checkbox" checked={allowKeyless.value} onChange={checking(allowKeyless)} /> {words.allowKeyless}
        </label>
      )}
      <div class="buttons">
        {!isOpen && (
          <button key="open" type="button" class="button main-action" onClick={setting(asked, "open")}>
            {words.open}
          </button>
        )}
        {(isOpen || tunnel.phase !== "stopped") && (
          <button key="close" type="button" class="button danger" onClick={setting(asked, "close")}>
            {words.close}
          </button>
        )}
      </div>
      <Danger
        title={isOpening ? words.openTitle(name) : words.closeTitle(name)}
        means={isOpening ? words.openMeans(allowKeyless.value) : words.closeMeans}
        name={tunnel.backend}
        verb={isOpening ? words.open : words.close}
        isOpen={asked.value !== null}
        onClose={setting(asked, null)}
        run={async () => {
          try {
            await (isOpening ? open() : close())
          } finally {
            void refresh("tunnels")
          }
        }}
      />
    </section>
  )
}
