/** The funnel of a mesh VPN: what is missing on this machine, installed and logged in from here, and the tunnel itself. */
import { type Signal, useSignal } from "@preact/signals"
import type { AnswerOf } from "../../../api/client.ts"
import {
  tunnelsCheckMesh,
  tunnelsDisableMesh,
  tunnelsEnableMesh,
  tunnelsLogInMesh,
  tunnelsMesh,
  tunnelsStartMeshDaemon
} from "../../../api/calls.generated.ts"
import { useAnswer } from "../../../api/queries.ts"
import { raw, readEvents } from "../../../api/raw.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { State } from "../../../ui/State.tsx"
import { visible } from "../../../ui/format.ts"
import { words } from "../../../words/system/tunnels.ts"
import { Entry, Pick } from "../../../ui/parts/Entry.tsx"
import { OutLink } from "../../../ui/parts/OutLink.tsx"
import { useWork } from "../../../ui/useWork.ts"
import { TunnelCard } from "./Card.tsx"

type Mesh = AnswerOf<typeof tunnelsMesh>
type Check = AnswerOf<typeof tunnelsCheckMesh>
type Port = 443 | 8443 | 10_000

const ports: ReadonlyArray<Port> = [443, 8443, 10_000]

interface Step {
  readonly message: string
  /** Null: not known. */
  readonly percent: number | null
}

const stepOf = (data: unknown): Step => {
  const { message, percent } = data as { readonly message?: unknown; readonly percent?: unknown }
  return {
    message: typeof message === "string" ? message : "",
    percent: typeof percent === "number" ? percent : null
  }
}

/** Installs it and tells each step; the reason is thrown where it fails. */
const install = async (sudoPassword: string, onStep: (step: Step) => void): Promise<void> => {
  const response = await raw("api/tunnels/mesh/install", {
    method: "POST",
    contentType: "application/json",
    body: JSON.stringify(sudoPassword === "" ? {} : { sudoPassword })
  })
  let failed: string | null = null
  await readEvents(response, ({ data, event }) => {
    if (event === "progress") onStep(stepOf(data))
    if (event === "error") failed = stepOf(data).message
  })
  if (failed !== null) throw new Error(failed)
}

const passwordIn = (sudo: Signal<string>) => (sudo.value === "" ? {} : { sudoPassword: sudo.value })

const Yes = ({ is, no, yes }: { readonly is: boolean; readonly yes: string; readonly no: string }) => (
  <State kind={is ? "good" : "warning"}>{is ? yes : no}</State>
)

interface PreparingProperties {
  readonly check: Check
  readonly mesh: Mesh
  readonly sudo: Signal<string>
}

const Preparing = ({ check, mesh, sudo }: PreparingProperties) => {
  const step = useSignal<Step | null>(null)
  const authUrl = useSignal<string | null>(mesh.authUrl)
  const { isBusy, run } = useWork(["tunnels"])
  const installed = async (): Promise<void> => {
    try {
      await install(sudo.value, (next) => {
        step.value = next
      })
    } finally {
      step.value = null
    }
  }
  const logIn = async (): Promise<void> => {
    authUrl.value = (await tunnelsLogInMesh({ body: {} })).authUrl
  }
  const { daemonRunning, installed: isInstalled, loggedIn } = check
  return (
    <div class="stack">
      <span class="strip">
        <Yes is={isInstalled} yes={words.installed} no={words.notInstalled} />
        <Yes is={daemonRunning} yes={words.daemon} no={words.noDaemon} />
        <Yes is={loggedIn} yes={words.loggedIn} no={words.notLoggedIn} />
      </span>
      {step.value !== null && (
        <p role="status">
          {visible(step.value.message)} <progress max={100} value={step.value.percent ?? undefined} />
        </p>
      )}
      {authUrl.value !== null && !loggedIn && (
        <p>
          {words.openInBrowser} <OutLink href={authUrl.value} name={words.logIn} />
        </p>
      )}
      {mesh.funnelNotEnabled && mesh.enableUrl !== null && (
        <p>
          {words.funnelNotEnabled} <OutLink href={mesh.enableUrl} name={words.allow} />
        </p>
      )}
      <div class="buttons">
        {!isInstalled && (
          <button
            key="install"
            type="button"
            class="button"
            disabled={isBusy.value}
            onClick={() => void run(installed, words.installed)}
          >
            {words.install}
          </button>
        )}
        {isInstalled && !daemonRunning && (
          <button
            key="daemon"
            type="button"
            class="button"
            disabled={isBusy.value}
            onClick={() => void run(() => tunnelsStartMeshDaemon({ body: passwordIn(sudo) }))}
          >
            {words.startDaemon}
          </button>
        )}
        {daemonRunning && !loggedIn && (
          <button key="login" type="button" class="button" disabled={isBusy.value} onClick={() => void run(logIn)}>
            {words.logIn}
          </button>
        )}
      </div>
    </div>
  )
}

const MeshCard = ({ check, mesh }: { readonly check: Check; readonly mesh: Mesh }) => {
  const allowKeyless = useSignal(false)
  const port = useSignal("443")
  const sudo = useSignal("")
  const password = <Entry name={words.sudo} hint={words.sudoHint} type="password" value={sudo} />
  const open = () =>
    tunnelsEnableMesh({
      body: {
        allowKeyless: allowKeyless.value,
        port: ports.find((each) => String(each) === port.value) ?? 443,
        ...passwordIn(sudo)
      }
    })
  return (
    <TunnelCard
      tunnel={mesh}
      allowKeyless={allowKeyless}
      open={open}
      close={() => tunnelsDisableMesh({ body: passwordIn(sudo) })}
      closing={password}
    >
      <Preparing check={check} mesh={mesh} sudo={sudo} />
      {password}
      <Pick name={words.port} value={port} choices={ports.map((each) => [String(each), String(each)])} />
    </TunnelCard>
  )
}

export const MeshTunnel = () => {
  const mesh = useAnswer({ key: ["tunnels", "mesh"], ask: (signal) => tunnelsMesh({ signal }) })
  const check = useAnswer({ key: ["tunnels", "check"], ask: (signal) => tunnelsCheckMesh({ signal }) })
  return (
    <Answered of={mesh} height={240}>
      {(tunnel) => (
        <Answered of={check} height={240}>
          {(checked) => <MeshCard mesh={tunnel} check={checked} />}
        </Answered>
      )}
    </Answered>
  )
}
