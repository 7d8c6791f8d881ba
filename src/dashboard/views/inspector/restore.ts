/** Takes back everything that captures: the steps in the order in which they depend on each other. One that fails stops no other. */
import {
  agentBridgeServer,
  agentBridgeStopTproxy,
  captureHttpProxy,
  captureSystemProxy,
  captureTlsIntercept,
  type inspectorModes,
  inspectorGateway
} from "../../api/calls.generated.ts"
import type { AnswerOf } from "../../api/client.ts"
import { words } from "../../words/inspector.ts"

export type Modes = AnswerOf<typeof inspectorModes>

interface Step {
  readonly name: string
  readonly isNeeded: (modes: Modes) => boolean
  readonly run: () => Promise<unknown>
}

const steps: ReadonlyArray<Step> = [
  { name: words.modes.tproxy.name, isNeeded: ({ tproxy }) => tproxy.running, run: () => agentBridgeStopTproxy() },
  {
    name: words.modes.systemProxy.name,
    isNeeded: ({ systemProxy }) => systemProxy.applied,
    run: () => captureSystemProxy({ body: { action: "revert" } })
  },
  {
    name: words.modes.tlsIntercept.name,
    isNeeded: ({ tlsIntercept }) => tlsIntercept.enabled,
    run: () => captureTlsIntercept({ body: { enabled: false } })
  },
  {
    name: words.modes.httpProxy.name,
    isNeeded: ({ httpProxy }) => httpProxy.running,
    run: () => captureHttpProxy({ body: { action: "stop" } })
  },
  // Stopping the server takes the names of hosts and agents out of the hosts file.
  {
    name: words.modes.mitm.name,
    isNeeded: ({ mitm }) => mitm.running,
    run: () => agentBridgeServer({ body: { action: "stop" } })
  },
  {
    name: words.modes.gateway.name,
    isNeeded: ({ gateway }) => gateway.enabled,
    run: () => inspectorGateway({ body: { enabled: false } })
  }
]

export const isCapturing = (modes: Modes): boolean => steps.some(({ isNeeded }) => isNeeded(modes))

/** Answers what could not be taken back, with the reason. */
export const restoreAll = async (modes: Modes): Promise<ReadonlyArray<string>> => {
  const failed: Array<string> = []
  for (const { isNeeded, name, run } of steps) {
    if (!isNeeded(modes)) continue
    try {
      await run()
    } catch (error) {
      failed.push(`${name}: ${(error as Error).message}`)
    }
  }
  return failed
}
