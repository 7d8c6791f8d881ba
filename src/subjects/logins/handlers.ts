/** `/api/logins`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { Forbidden, NotFound, TooManyRequests } from "../../contract/Errors.ts"
import { contractOf } from "../../contract/GroupContract.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { CurrentTrail } from "../../entry/handling/AuditTrail.ts"
import { iso } from "../../entry/handling/Views.ts"
import { clientAddress } from "../../entry/listening/ClientAddress.ts"
import { InnerCaller } from "../../entry/listening/InnerCaller.ts"
import { plainText } from "../../kernel/text/PlainText.ts"
import { Sessions } from "../auth/sessions/Sessions.ts"
import { Logins as LoginsGroup } from "./routes.ts"
import { Logins, type Reply, type TooManyAsked } from "./service.ts"

const refusals = {
  TooManyAsked: ({ retryAfterMs }: TooManyAsked) =>
    new TooManyRequests({ message: "Too many logins were tried. Wait a little.", retryAfterMs })
}

const refusalsOfPage = {
  ...refusals,
  NoSuchLogin: () =>
    new NotFound({
      message:
        "No login that waits has this code, or it was answered already. Read the code on the machine again, or begin there again: a code counts for ten minutes.",
      code: "no_such_login",
      param: "code"
    })
}

const notThePage = new Forbidden({
  message: "Only a person who is signed in to the dashboard allows a login: open /dashboard/login in a browser.",
  code: "person_required"
})

const noPerson = new Forbidden({
  message:
    "You are signed in as the administrator, who is no person of a directory: sign in by the directory to allow this login. With the password, use 'gateway login <url>' on that machine.",
  code: "person_required"
})

const refusalOf = (reason: Extract<Reply, { _tag: "Over" }>["reason"]) =>
  ({ status: reason, intervalMs: null, login: null }) as const

const replyView = (reply: Reply) => {
  switch (reply._tag) {
    case "Pending":
      return { status: "pending", intervalMs: reply.intervalMs, login: null } as const
    case "SlowDown":
      return { status: "slow_down", intervalMs: reply.intervalMs, login: null } as const
    case "Over":
      return refusalOf(reply.reason)
    case "LoggedIn": {
      const { login, user } = reply
      return {
        status: "logged_in",
        intervalMs: null,
        login: {
          token: Redacted.value(login.cookie),
          expiresAt: iso(login.expiresAtMs),
          person: { id: user.id, name: user.name, email: user.email, role: user.role }
        }
      } as const
    }
  }
}

/** No program between may keep what only the machine that asked may have. */
const secretly = (body: unknown) =>
  Effect.orDie(HttpServerResponse.json(body, { headers: { "Cache-Control": "no-store" } }))

export const layer = HttpApiBuilder.group(contractOf(LoginsGroup), "logins", (handlers) =>
  Effect.gen(function* () {
    const logins = yield* Logins
    const sessions = yield* Sessions
    /** The person whose page asks. A login at the command line is no page: it would make another one of itself. */
    const answerer = Effect.gen(function* () {
      const principal = (yield* CurrentTrail)?.principal
      if ((yield* InnerCaller) !== null || principal?._tag !== "Session" || principal.isCommandLine === true) {
        return yield* notThePage
      }
      const { person, sessionId } = principal
      if (person === undefined) return yield* noPerson
      return { sessionId, userId: person.userId, issuerId: sessions.get(sessionId)?.issuerId ?? null }
    })
    return handlers
      .handle("begin", ({ payload: { back = null, machine, way } }) =>
        Effect.gen(function* () {
          const address = yield* clientAddress
          const begun = yield* logins.begin({ way, machine: plainText(machine), address, back })
          return yield* secretly({
            secret: Redacted.value(begun.secret),
            code: begun.code,
            expiresAt: iso(begun.expiresAtMs),
            intervalMs: begun.intervalMs
          })
        }).pipe(Effect.catchTags(refusals), answered)
      )
      .handle("token", ({ payload: { proof = null, secret } }) =>
        Effect.gen(function* () {
          const address = yield* clientAddress
          const given = proof === null ? null : { grant: proof.code, verifier: proof.verifier }
          const reply = yield* logins.ask({ secret, proof: given, address })
          const trail = yield* CurrentTrail
          if (trail !== null && reply._tag === "LoggedIn")
            trail.began = { actor: `person:${reply.user.id}`, made: null }
          if (trail !== null && (reply._tag === "Pending" || reply._tag === "SlowDown")) trail.isUneventful = true
          return yield* secretly(replyView(reply))
        }).pipe(Effect.catchTags(refusals), answered)
      )
      .handle("look", ({ payload: { code } }) =>
        Effect.gen(function* () {
          const request = yield* logins.look(code, yield* answerer)
          return {
            way: request.way,
            machine: request.machine,
            address: request.address,
            requestedAt: iso(request.createdAtMs),
            expiresAt: iso(request.expiresAtMs)
          }
        }).pipe(Effect.catchTags(refusalsOfPage), answered)
      )
      .handle("answer", ({ payload: { allow, code } }) =>
        Effect.gen(function* () {
          return { redirect: yield* logins.answer(code, allow, yield* answerer) }
        }).pipe(Effect.catchTags(refusalsOfPage), answered)
      )
  })
)
