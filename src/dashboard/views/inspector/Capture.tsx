/** All ways to capture, with what each changes on this machine, and one button that takes all of it back. */
import { useSignal } from "@preact/signals"
import {
  agentBridgeServer,
  agentBridgeStartTproxy,
  agentBridgeStopTproxy,
  agentBridgeTproxy,
  captureHttpProxy,
  captureSystemProxy,
  captureTlsIntercept,
  inspectorGateway,
  inspectorModes
} from "../../api/calls.generated.ts"
import { useAnswer } from "../../api/queries.ts"
import { typing } from "../../ui/handlers.ts"
import { Answered } from "../../ui/Answered.tsx"
import { State } from "../../ui/State.tsx"
import { clockTime, count, visible } from "../../ui/format.ts"
import { useWork } from "../../ui/useWork.ts"
import { toast } from "../../ui/toasts.tsx"
import { words } from "../../words/inspector.ts"
import { Certificate } from "./Certificate.tsx"
import { Hosts } from "./Hosts.tsx"
import { Mode, refreshCapture } from "./Mode.tsx"
import { isCapturing, type Modes, restoreAll } from "./restore.ts"
import { SudoPassword } from "./SudoPassword.tsx"

const portOf = (port: number | null): string => (port === null ? "" : words.capture.port(String(port)))

const Restore = ({ modes }: { readonly modes: Modes }) => {
  const failed = useSignal<ReadonlyArray<string>>([])
  const { isBusy, run } = useWork([])
  const restore = async (): Promise<void> => {
    await run(async () => {
      failed.value = await restoreAll(modes)
      await refreshCapture()
    })
    if (failed.value.length === 0) toast("good", words.capture.restored)
  }
  return (
    <section class="stack">
      <div class="buttons">
        <button
          type="button"
          class="button main-action"
          disabled={isBusy.value || !isCapturing(modes)}
          onClick={() => void restore()}
        >
          {words.capture.restoreAll}
        </button>
        <span class="quiet">{words.capture.restoreHint}</span>
      </div>
      {failed.value.length > 0 && (
        <div class="failure" role="alert">
          <State kind="bad">{words.capture.restoreFailed}</State>
          <ul>
            {failed.value.map((text) => (
              <li key={text}>{visible(text)}</li>
            ))}
          </ul>
        </div>
      )}
    </section>
  )
}

const SystemProxy = ({ modes }: { readonly modes: Modes }) => {
  const minutes = useSignal("30")
  const { systemProxy } = modes
  const given = Number(minutes.value)
  const guard = Number.isInteger(given) && given > 0 ? { guardMinutes: given } : {}
  return (
    <Mode
      {...words.modes.systemProxy}
      isOn={systemProxy.applied}
      command={{ call: captureSystemProxy, body: { action: systemProxy.applied ? "revert" : "apply", ...guard } }}
      told={systemProxy.guardUntil === null ? "" : words.capture.until(clockTime(systemProxy.guardUntil))}
      impossible={
        systemProxy.supported
          ? modes.httpProxy.running
            ? null
            : words.capture.needs(words.modes.httpProxy.name)
          : systemProxy.platform
      }
      danger={words.danger.systemProxy}
      on={() => captureSystemProxy({ body: { action: "apply", ...guard } })}
      off={() => captureSystemProxy({ body: { action: "revert" } })}
    >
      <div class="field">
        <label for="guard-minutes">{words.capture.minutes}</label>
        <input
          id="guard-minutes"
          class="input short"
          type="number"
          min={1}
          max={10_080}
          value={minutes.value}
          onInput={typing(minutes)}
        />
      </div>
    </Mode>
  )
}

const Transparent = ({ modes }: { readonly modes: Modes }) => {
  const tproxy = useAnswer({ key: ["tproxy"], ask: (signal) => agentBridgeTproxy({ signal }) })
  const sudoPassword = useSignal("")
  const told = tproxy.value.data
  return (
    <Mode
      {...words.modes.tproxy}
      isOn={modes.tproxy.running}
      command={modes.tproxy.running ? { call: agentBridgeStopTproxy } : { call: agentBridgeStartTproxy, body: {} }}
      told={told?.running === true ? words.capture.intercepted(count(told.interceptCount)) : ""}
      impossible={modes.tproxy.available ? null : visible(told?.reason ?? "")}
      danger={words.danger.tproxy}
      on={async () => {
        await agentBridgeStartTproxy({ body: sudoPassword.value === "" ? {} : { sudoPassword: sudoPassword.value } })
        sudoPassword.value = ""
      }}
      off={() => agentBridgeStopTproxy()}
    >
      {told !== undefined && told.notCaptured.length > 0 && modes.tproxy.available && (
        <ul class="quiet">
          {told.notCaptured.map((text) => (
            <li key={text}>{visible(text)}</li>
          ))}
        </ul>
      )}
      {modes.tproxy.available && !modes.tproxy.running && <SudoPassword id="sudo-password" password={sudoPassword} />}
    </Mode>
  )
}

const Ways = ({ modes }: { readonly modes: Modes }) => (
  <div class="stack">
    <Restore modes={modes} />
    <div class="modes">
      <Mode
        {...words.modes.gateway}
        isOn={modes.gateway.enabled}
        command={{ call: inspectorGateway, body: { enabled: !modes.gateway.enabled } }}
        told={modes.gateway.recorded > 0 ? words.capture.recorded(count(modes.gateway.recorded)) : ""}
        on={() => inspectorGateway({ body: { enabled: true } })}
        off={() => inspectorGateway({ body: { enabled: false } })}
      >
        {modes.gateway.bodiesLost > 0 && <State kind="warning">{words.capture.lost(modes.gateway.bodiesLost)}</State>}
      </Mode>
      <Mode
        {...words.modes.httpProxy}
        isOn={modes.httpProxy.running}
        command={{ call: captureHttpProxy, body: { action: modes.httpProxy.running ? "stop" : "start" } }}
        told={portOf(modes.httpProxy.port)}
        on={() => captureHttpProxy({ body: { action: "start" } })}
        off={() => captureHttpProxy({ body: { action: "stop" } })}
      />
      <Mode
        {...words.modes.tlsIntercept}
        isOn={modes.tlsIntercept.enabled}
        command={{ call: captureTlsIntercept, body: { enabled: !modes.tlsIntercept.enabled } }}
        on={() => captureTlsIntercept({ body: { enabled: true } })}
        off={() => captureTlsIntercept({ body: { enabled: false } })}
      />
      <SystemProxy modes={modes} />
      <Mode
        {...words.modes.hosts}
        isOn={modes.customHosts.enabledCount > 0}
        told={count(modes.customHosts.enabledCount)}
        on={null}
        off={null}
      >
        <Hosts />
      </Mode>
      <Mode
        {...words.modes.mitm}
        isOn={modes.mitm.running}
        command={{ call: agentBridgeServer, body: { action: modes.mitm.running ? "stop" : "start" } }}
        told={portOf(modes.mitm.port)}
        on={() => agentBridgeServer({ body: { action: "start" } })}
        off={() => agentBridgeServer({ body: { action: "stop" } })}
      />
      <Transparent modes={modes} />
      <Certificate />
    </div>
  </div>
)

export const Capture = () => {
  const modes = useAnswer({ key: ["capture-modes"], ask: (signal) => inspectorModes({ signal }) })
  return (
    <Answered of={modes} height={400}>
      {(answer) => <Ways modes={answer} />}
    </Answered>
  )
}
