/** Facts of the session that a request comes with: whose it is, and what that person's role opens. */
import { type Operation, type Reach, reachOf } from "../../../contract/tiers/Rights.ts"
import type { SessionPerson } from "../../keys/entity.ts"
import type { People } from "../../people/People.ts"
import type { Sessions } from "./Sessions.ts"

export interface SessionFacts {
  /** Null: no session that counts. That of a person who was suspended, or is no more, does not. */
  readonly sessionId: string | null
  /** Null: the administrator's. */
  readonly person: SessionPerson | null
}

const none: SessionFacts = { sessionId: null, person: null }

/** Hot: makes the function that finds the facts of a cookie; `isLook`: it is no use of the session. */
export const makeSessionFacts =
  (sessions: typeof Sessions.Service, people: typeof People.Service) =>
  (cookie: string | null, nowMs: number, isLook: boolean): SessionFacts => {
    if (cookie === null) return none
    const sessionId = isLook ? sessions.look(cookie, nowMs) : sessions.find(cookie, nowMs)
    if (sessionId === null) return none
    const userId = sessions.get(sessionId)?.userId ?? null
    if (userId === null) return { sessionId, person: null }
    const user = people.directory().users.get(userId)
    return user === undefined || user.state === "suspended"
      ? none
      : { sessionId, person: { userId, name: user.name, role: user.role } }
  }

/** Hot: finds what a session opens an operation for. */
export const sessionReach = ({ person }: SessionFacts, operation: () => Operation): Reach =>
  person === null ? "all" : reachOf(person.role, operation())
