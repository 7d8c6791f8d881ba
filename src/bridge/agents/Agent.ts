/** What the bridge knows of a coding agent. */
import type { WireName } from "../../domain/Wire.ts"

/**
 * What was seen, which is not what is possible: `Agent.wire` tells whether calls can be answered. `routed`: the program itself finished a round of
 * a tool through the bridge, and a test repeats it (`docs/agent-bridge.md`). `recorded`: its calls can be read and passed on, and are answered where
 * their model is mapped, but the program was not seen doing it. `investigating`: its format is not known well enough to be read.
 */
export type Viability = "routed" | "recorded" | "investigating"

export interface AgentModel {
  readonly id: string
  readonly name: string
  /** A short name for mappings. */
  readonly alias: string
}

export interface Agent {
  readonly id: string
  readonly name: string
  readonly hosts: ReadonlyArray<string>
  readonly port: number
  /** Paths of calls to a model, without query; `*` stands for any text. */
  readonly endpointPatterns: ReadonlyArray<string>
  /** How its calls are written; null: in a format of its own, in which this gateway cannot answer. */
  readonly wire: WireName | null
  /** Null: the wire stands alone. `cloudcode`: a request is `{model, project, request}`, an answer `{response}`. */
  readonly wrapper: "cloudcode" | null
  readonly defaultModels: ReadonlyArray<AgentModel>
  readonly viability: Viability
  readonly riskNotice: string
  readonly setup: {
    readonly steps: ReadonlyArray<string>
    /** Its program; null: it has none that can be found. */
    readonly binary: string | null
  }
}
