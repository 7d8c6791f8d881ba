/** Facts of a coding agent for the bridge. */
import type { WireName } from "../../../contract/domain/Wire.ts"

/**
 * Evidence that the bridge works with a program, as tested; whether calls can be answered is in `Agent.wire`. `routed`: the program itself finished
 * a round of a tool through the bridge, and a test repeats it (`docs/agent-bridge.md`). `recorded`: its calls can be read and passed on, and are
 * answered where their model is mapped, but that was not tested with the program. `investigating`: its format is not known well enough to be read.
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
  /** Wire of its calls; null: a format of its own, in which this gateway cannot answer. */
  readonly wire: WireName | null
  /** Wrapper of its requests; null: none. `cloudcode`: a request is `{model, project, request}`, an answer `{response}`. */
  readonly wrapper: "cloudcode" | null
  readonly defaultModels: ReadonlyArray<AgentModel>
  readonly viability: Viability
  readonly riskNotice: string
  readonly setup: {
    readonly steps: ReadonlyArray<string>
    /** Name of its program; null: it has none that can be found. */
    readonly binary: string | null
  }
}
