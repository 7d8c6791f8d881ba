/** What the bridge knows of a coding agent. */
import type { WireName } from "../../domain/Wire.ts"

/**
 * `routed`: its calls can be answered by this gateway, and a test does it. `recorded`: they can be read and passed on. `investigating`: its
 * format is not known well enough to be read.
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
  /** How its calls are written; null: in a format of its own. */
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
