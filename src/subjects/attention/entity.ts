/** Things that need a person: what is wrong or soon will be, since when, and what can be done about it. */

export const severities = ["error", "warning", "info"] as const
export type Severity = (typeof severities)[number]

/** - `…Exhausting`: used up before it is renewed, if it is used on as so far. */
export const attentionKinds = [
  "connectionEnded",
  "connectionResting",
  "breakerOpen",
  "modelListFailed",
  "budgetExhausting",
  "budgetExhausted",
  "tokenLimitExhausting",
  "tokenLimitExhausted",
  "quotaExhausting",
  "quotaExhausted",
  "signInExpiring",
  "webhookDisabled",
  "tunnelFailed",
  "backupFailed",
  "backupOld",
  "flagWaiting",
  "pluginFailed",
  "captureOn",
  "modelUnpriced",
  "logLosing"
] as const
export type AttentionKind = (typeof attentionKinds)[number]

export const subjectTypes = [
  "connection",
  "provider",
  "apiKey",
  "tokenLimit",
  "webhook",
  "tunnel",
  "backup",
  "flag",
  "plugin",
  "capture",
  "model",
  "log"
] as const
export type SubjectType = (typeof subjectTypes)[number]

/** A request of this API that does something about it, or shows more. */
export interface AttentionAction {
  readonly label: string
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  readonly path: string
  readonly body: Readonly<Record<string, unknown>> | null
}

export interface AttentionItem {
  /** The same as long as it is the same trouble. */
  readonly id: string
  readonly severity: Severity
  readonly kind: AttentionKind
  readonly subject: { readonly type: SubjectType; readonly id: string; readonly name: string }
  /** Epoch milliseconds; null: not known. */
  readonly sinceMs: number | null
  /**
   * Time in epoch milliseconds at which it changes by itself: what runs out is used up, what ends is over, what is used up is renewed, what rests is
   * used again. Null: not known, or never.
   */
  readonly changesAtMs: number | null
  /** One or two sentences for people. */
  readonly text: string
  readonly actions: ReadonlyArray<AttentionAction>
}
