/** What a lockout and a hold are about: one model at one connection. */
export interface LockoutKey {
  readonly provider: string
  readonly connectionId: string
  readonly model: string
}
