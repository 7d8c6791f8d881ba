/** Logins of people at the command line (docs/sso.md): what waits for a person in a browser. */

/** `browser`: the browser comes back to the machine that asks, with a code. `device`: the person types a code, and the machine asks until it is allowed. */
export const loginWays = ["browser", "device"] as const
export type LoginWay = (typeof loginWays)[number]

export const loginStates = ["asked", "allowed", "denied"] as const
export type LoginState = (typeof loginStates)[number]

/** Time within which a login has to be allowed, and its credential taken. */
export const lifetimeMs = 10 * 60_000

/** Shortest time between two questions of a command line. */
export const intervalMs = 5_000
/** Time that a question which comes too early adds to it (RFC 8628, 3.5). */
export const slowDownMs = 5_000
export const maxIntervalMs = 60_000

/** Logins that wait at the same time, in all and of one address. */
export const maxWaiting = 1_000
export const maxWaitingOfAddress = 100

/** Logins at the command line that one person has at the same time; a further one ends the oldest. */
export const maxOfPerson = 10

export const maxMachineChars = 100

export interface LoginRequest {
  /** SHA-256 of the secret that the command line asks with. */
  readonly idHash: string
  /** SHA-256 of the code that the person's page asks with. */
  readonly codeHash: string
  readonly way: LoginWay
  readonly state: LoginState
  /** Name that the machine gives itself. */
  readonly machine: string
  /** Address from which it asked; empty: not known. */
  readonly address: string
  /** Port of this machine's loopback that the browser comes back to; null: it does not. */
  readonly port: number | null
  /** SHA-256 of the verifier, base64url (RFC 7636); null: the way has none. */
  readonly challenge: string | null
  /** State that the browser brings back as it was given; null: it does not come back. */
  readonly clientState: string | null
  /** SHA-256 of the code that the browser brings back; null: none was made. */
  readonly grantHash: string | null
  /** Id of the session that was shown what asks; null: none was yet. */
  readonly shownTo: string | null
  /** The person who allowed the login, and the issuer of that person's session; null: not allowed yet. */
  readonly userId: string | null
  readonly issuerId: string | null
  readonly intervalMs: number
  /** Time of the question before; null: there was none. */
  readonly polledAtMs: number | null
  readonly createdAtMs: number
  readonly expiresAtMs: number
}
