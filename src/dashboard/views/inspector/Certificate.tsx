/** The certificate authority of capture, and checks of what capture has changed on this machine. */
import { useSignal } from "@preact/signals"
import type { AnswerOf } from "../../api/client.ts"
import {
  agentBridgeDiagnose,
  agentBridgeDownloadCert,
  agentBridgeRepair,
  agentBridgeServer,
  agentBridgeState
} from "../../api/calls.generated.ts"
import { gatewayUrl } from "../../api/client.ts"
import { useAnswer } from "../../api/queries.ts"
import { opening, setting } from "../../ui/handlers.ts"
import { Answered } from "../../ui/Answered.tsx"
import { Danger } from "../../ui/dialogs/Danger.tsx"
import { State } from "../../ui/State.tsx"
import { exact, visible } from "../../ui/format.ts"
import { toast } from "../../ui/toasts.tsx"
import { useWork } from "../../ui/useWork.ts"
import { words } from "../../words/inspector.ts"
import { ofCapture, refreshCapture } from "./Mode.tsx"
import { SudoPassword } from "./SudoPassword.tsx"

type Checks = AnswerOf<typeof agentBridgeDiagnose>["checks"]

const Trust = ({ isTrusted }: { readonly isTrusted: boolean }) => {
  const isAsked = useSignal(false)
  const password = useSignal("")
  const { isBusy, run } = useWork(ofCapture)
  const change = async (action: "trust-cert" | "untrust-cert"): Promise<void> => {
    const sudo = password.value === "" ? {} : { sudoPassword: password.value }
    const { warnings } = await agentBridgeServer({ body: { action, ...sudo } })
    password.value = ""
    for (const warning of warnings) toast("warning", warning)
  }
  return (
    <>
      <SudoPassword id="trust-password" password={password} />
      {isTrusted ? (
        <button
          key="untrust"
          type="button"
          class="button"
          disabled={isBusy.value}
          onClick={() => void run(() => change("untrust-cert"))}
        >
          {words.capture.untrust}
        </button>
      ) : (
        <button key="trust" type="button" class="button" onClick={setting(isAsked, true)}>
          {words.capture.trust}
        </button>
      )}
      <Danger
        title={words.capture.trust}
        means={words.danger.trust}
        name={words.capture.cert}
        verb={words.capture.trust}
        {...opening(isAsked)}
        run={async () => {
          await change("trust-cert")
          await refreshCapture()
        }}
      />
    </>
  )
}

const Checked = () => {
  const checks = useSignal<Checks | null>(null)
  const { isBusy, run } = useWork(ofCapture)
  const check = async (): Promise<void> => {
    checks.value = (await agentBridgeDiagnose()).checks
  }
  const repair = async (): Promise<void> => {
    const { repaired } = await agentBridgeRepair()
    toast("good", repaired.length === 0 ? words.capture.nothingToRepair : words.capture.repaired(repaired.join(", ")))
    await check()
  }
  return (
    <>
      <div class="buttons">
        <button type="button" class="button" disabled={isBusy.value} onClick={() => void run(check)}>
          {words.capture.diagnose}
        </button>
        <button type="button" class="button" disabled={isBusy.value} onClick={() => void run(repair)}>
          {words.capture.repair}
        </button>
      </div>
      {checks.value !== null && (
        <ul class="stack">
          {checks.value.map(({ detail, hint, id, ok }) => (
            <li key={id}>
              <State kind={ok ? "good" : "warning"}>{visible(id)}</State> {visible(detail)}{" "}
              {hint !== null && <span class="quiet">{visible(hint)}</span>}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

export const Certificate = () => {
  const bridge = useAnswer({ key: ["agent-bridge"], ask: (signal) => agentBridgeState({ signal }) })
  return (
    <section class="card mode" aria-label={words.capture.cert}>
      <h2>{words.capture.cert}</h2>
      <Answered of={bridge}>
        {({ cert }) => (
          <>
            {cert === null ? (
              <p class="quiet">{words.capture.noCert}</p>
            ) : (
              <dl class="facts">
                <dt>{visible(cert.subject)}</dt>
                <dd>
                  <State kind={cert.trusted ? "warning" : "quiet"}>
                    {cert.trusted ? words.capture.trusted : words.capture.untrusted}
                  </State>
                </dd>
                <dt>{words.capture.fingerprint}</dt>
                <dd class="mono">{cert.sha256}</dd>
                <dt>{words.capture.validUntil}</dt>
                <dd>{exact(cert.notAfter)}</dd>
              </dl>
            )}
            <div class="buttons">
              <a
                class="button"
                href={new URL(agentBridgeDownloadCert.path.slice(1), gatewayUrl).href}
                download="gateway-ca.pem"
              >
                {words.capture.download}
              </a>
            </div>
            <Trust isTrusted={cert?.trusted === true} />
          </>
        )}
      </Answered>
      <Checked />
    </section>
  )
}
