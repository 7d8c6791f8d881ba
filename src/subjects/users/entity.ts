/** People who use the gateway. Keys may belong to them; who has none of them sees nothing of it. */
import type { OwnerBudget, OwnerLimits } from "../limits/entity.ts"
import type { Provisioned } from "../scim/entity.ts"

export const userRoles = ["owner", "admin", "lead", "member", "viewer"] as const
export type UserRole = (typeof userRoles)[number]

/** Places where a person is kept: here, at an issuer that signs people in, or in a directory that pushes its people. */
export const userSources = ["local", "oidc", "scim"] as const
export type UserSource = (typeof userSources)[number]

/** `suspended`: the person's keys are refused. */
export const userStates = ["active", "suspended"] as const
export type UserState = (typeof userStates)[number]

/** One address, without a name around it and without characters that cannot be seen. */
export const emailPattern = /^[^\s@<>,;"\p{Cc}\p{Cf}]{1,64}@[^\s@<>,;"\p{Cc}\p{Cf}]+$/u
export const maxEmailChars = 254

export const isEmail = (text: string): boolean => text.length <= maxEmailChars && emailPattern.test(text)

export interface User {
  readonly id: string
  readonly name: string
  /** In lower case; unique among people who are kept here. */
  readonly email: string
  /** Identifier of the issuer that signs the person in; null: the person is kept here. */
  readonly issuer: string | null
  /** Id of the person at the issuer (`sub`); null: none. */
  readonly subject: string | null
  /** Name by which a directory that pushes tells its people apart, in lower case; null: no directory does. */
  readonly userName: string | null
  /** Attributes as such a directory has pushed them last; null: none does. */
  readonly provisioned: Provisioned | null
  readonly role: UserRole
  readonly source: UserSource
  readonly state: UserState
  /** Null: none of the person's own. */
  readonly budget: OwnerBudget | null
  readonly limits: OwnerLimits | null
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** The contract promises a directory of that size. */
export const maxUsers = 10_000
