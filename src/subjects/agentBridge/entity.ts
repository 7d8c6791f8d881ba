/** State of the agent bridge (docs/inspector.md). */

/** The model `targetModel` of this gateway answers in place of `sourceModel`, in which `*` stands for any text. */
export interface ModelMapping {
  readonly sourceModel: string
  readonly targetModel: string
}

export interface AgentState {
  /** True when its hosts are resolved to this machine. */
  readonly dnsEnabled: boolean
  readonly setupCompleted: boolean
  readonly lastStartedAtMs: number | null
  readonly lastError: string | null
}

export const initialState: AgentState = {
  dnsEnabled: false,
  setupCompleted: false,
  lastStartedAtMs: null,
  lastError: null
}
