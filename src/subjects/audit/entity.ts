/** Row for each management request that may change something, with its author. */

export interface AuditRow {
  /** Id of the request (`X-Gateway-Request-Id`), so that no request has two rows. */
  readonly id: string
  readonly timestampMs: number
  /** `auth.login.success`, `settings.update`, …; else `<group>.<endpoint>` of the route. */
  readonly action: string
  /** `admin-key`, `owner`, `session:<id>`, `apiKey:<id>`, `admin` (by password), `gateway` (by itself), or `anonymous`. */
  readonly actor: string
  /** Id or name of what it was done to; null: no single thing. */
  readonly target: string | null
  readonly resourceType: string
  readonly status: "success" | "failure"
  /** Peer address of the socket; `tunnel`: it came through one; `gateway`: there was no request. */
  readonly ip: string
  /** Ids, names of fields, status and code of the answer; of values only what `Differences` keeps. */
  readonly details: AuditDetails
}

export interface AuditDetails {
  /** HTTP status of the answer; 499: the client left before it. */
  readonly httpStatus: number
  /** Code of the error. */
  readonly code?: string
  /** Name of the API key that asked. */
  readonly apiKeyName?: string
  /** Id of the person whom that key belongs to. */
  readonly userId?: string
  /** Name that the person had. */
  readonly userName?: string
  /** Id of the API key that an admin session acted with; absent: the actor acted for itself. */
  readonly asKey?: string
  /** Names of the fields that were sent. */
  readonly fields?: ReadonlyArray<string>
  /** Fields that are different in the object after the change; no secret. */
  readonly changes?: ReadonlyArray<FieldChange>
}

/** A field that is different after a change. */
export interface FieldChange {
  /** Path of the field, with dots between the levels; entries of a list by their id. */
  readonly field: string
  /** Absent: it was not there, or it is hidden. */
  readonly before?: unknown
  /** Absent: it is not there any more, or it is hidden. */
  readonly after?: unknown
  /** True: its values are not kept. */
  readonly hidden?: true
}

/** All that are given must fit. A text that ends with `*` is a beginning. */
export interface AuditFilter {
  readonly action?: string
  readonly actor?: string
  readonly target?: string
  readonly requestId?: string
  readonly status?: AuditRow["status"]
  /** Epoch milliseconds, from then on. */
  readonly fromMs?: number
  /** Epoch milliseconds, before. */
  readonly toMs?: number
}

export const anonymous = "anonymous"
