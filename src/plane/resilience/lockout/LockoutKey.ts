/** Subject of a lockout or a hold: one model at one connection. */
export interface LockoutKey {
  readonly provider: string
  readonly connectionId: string
  readonly model: string
}
