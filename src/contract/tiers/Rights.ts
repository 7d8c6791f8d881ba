/**
 * Rights of people: the one table of operation × role, from which routes (`subject.ts`), handlers, the command line and the dashboard take them. A key of
 * a person has them besides those of its scopes.
 */
import type { UserRole } from "../../subjects/users/entity.ts"

/**
 * Part of the gateway that an operation reaches. `own`: what belongs to the person. `team`: that, and what belongs to the person's teams and those below
 * them.
 */
export const reaches = ["none", "own", "team", "all"] as const
export type Reach = (typeof reaches)[number]

type OfRoles = Readonly<Record<UserRole, Reach>>

const ofOwner: OfRoles = { owner: "all", admin: "none", lead: "none", member: "none", viewer: "none" }
const ofAdmins: OfRoles = { ...ofOwner, admin: "all" }

const table = {
  /** Read and change everything that has no row of its own: connections, models, settings and the rest of the gateway. */
  administer: ofAdmins,
  /** Replace the gateway's data as a whole, and end the sessions of its administrator. */
  replace: ofOwner,
  /** Say which directories sign people in, and what they make of them. */
  changeIssuers: ofAdmins,
  changePeople: ofAdmins,
  /** Read and change people and teams as a directory that pushes does (`/scim/v2`). */
  pushPeople: ofAdmins,
  readPeople: { ...ofAdmins, lead: "team", member: "own", viewer: "all" },
  /** Read everything that is kept of a person. */
  readOwnData: { ...ofAdmins, lead: "own", member: "own", viewer: "own" },
  changeTeams: ofAdmins,
  readTeams: { ...ofAdmins, lead: "team", member: "own", viewer: "all" },
  readKeys: { ...ofAdmins, lead: "team", member: "own", viewer: "all" },
  /** Make, change and remove keys. */
  giveKeys: { ...ofAdmins, lead: "team" },
  /** Give a key another secret. */
  renewKeys: { ...ofAdmins, lead: "team", member: "own", viewer: "own" },
  readLimits: { ...ofAdmins, lead: "team", member: "own", viewer: "all" },
  setLimits: { ...ofAdmins, lead: "team" },
  /** Read sums of requests, tokens and costs. */
  readFigures: { ...ofAdmins, lead: "team", member: "own", viewer: "all" },
  /** List single requests. */
  readRequests: { ...ofAdmins, lead: "team", member: "own", viewer: "own" },
  /** See prompts and answers of a team that lets them be seen. */
  readContent: { ...ofAdmins, lead: "team" },
  /** Read the state of one's session, and end it. */
  ownSession: { ...ofAdmins, lead: "own", member: "own", viewer: "own" }
} as const satisfies Readonly<Record<string, OfRoles>>

export type Operation = keyof typeof table
export const rights: Readonly<Record<Operation, OfRoles>> = table

export const operations = Object.keys(table) as ReadonlyArray<Operation>

/** Null: no person. */
export const reachOf = (role: UserRole | null, operation: Operation): Reach =>
  role === null ? "none" : rights[operation][role]

/** Reach of every operation. */
export const reachesOf = (reach: (operation: Operation) => Reach): Readonly<Record<Operation, Reach>> =>
  Object.fromEntries(operations.map((operation) => [operation, reach(operation)])) as Record<Operation, Reach>
