/** Admin sessions (docs/reference/http-api.md, "Authentication"). */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { operations, reaches, reachesOf } from "../../contract/tiers/Rights.ts"
import { contentReaders, noticeOf } from "../teams/entity.ts"
import { userRoles } from "../users/entity.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { NotFoundAnswer, TooManyRequestsAnswer } from "../../contract/Errors.ts"
import { NoContent } from "../../contract/Inputs.ts"
import { exampleId, exampleKeyId, exampleTeamId, exampleTime } from "../../contract/Examples.ts"
import { callerTiers } from "../../contract/tiers/Tier.ts"
import { principalTypes, sessionWays } from "./entity.ts"
import { field } from "../../kernel/Documented.ts"
import { passwordProblem } from "../../kernel/secrets/SecretRules.ts"

/** The answer also sets an HttpOnly cookie; unsafe requests with it send the token as `X-CSRF-Token`. */
const LoggedIn = Schema.Struct({
  csrfToken: field(
    Schema.String,
    "Sent as `X-CSRF-Token` with every request that changes something.",
    "kQ3v0m8r1b2c3d4e5f6a7b8c9d0e1f2a"
  ),
  expiresAt: field(Schema.String, "When the session ends at the latest, ISO 8601.", exampleTime)
}).annotations({ identifier: "Login" })

const NewPassword = Schema.Struct({
  password: field(
    Schema.Redacted(
      Schema.String.annotations({ examples: ["correct horse battery staple"] }).pipe(
        Schema.filter((password) => passwordProblem(password) ?? true)
      )
    ),
    "The new admin password, 8 to 200 characters."
  )
}).annotations({ identifier: "NewPassword" })

const ChangePassword = Schema.Struct({
  currentPassword: field(
    Schema.optionalWith(
      Schema.Redacted(Schema.String.pipe(Schema.maxLength(200)).annotations({ examples: ["the one before this one"] })),
      { exact: true }
    ),
    "The admin password that holds now; left out where none was ever set."
  ),
  password: NewPassword.fields.password
}).annotations({ identifier: "ChangePassword" })

const SessionState = Schema.Struct({
  authenticated: field(Schema.Boolean, "Whether the cookie names a session that is valid.", true),
  passwordSet: field(Schema.Boolean, "Whether there is an admin password to log in with.", true),
  csrfToken: field(
    Schema.NullOr(Schema.String),
    "The session's CSRF token, as the login answered it; null without a session.",
    "kQ3v0m8r1b2c3d4e5f6a7b8c9d0e1f2a"
  ),
  expiresAt: field(Schema.NullOr(Schema.String), "When the session ends at the latest, ISO 8601.", exampleTime)
}).annotations({ identifier: "SessionState" })

const OneTimeCode = Schema.Struct({
  code: field(Schema.String, "Counts once.", "Zr8c0fJ7t2n5v1k4x9q3m6w0y8b2d5g7h1j4l7p0s3u"),
  expiresAt: field(Schema.String, "When it ends, a minute after it was made, ISO 8601.", exampleTime)
}).annotations({ identifier: "OneTimeCode" })

const CodeExchange = Schema.Struct({
  code: field(
    Schema.Redacted(
      Schema.String.pipe(Schema.maxLength(200)).annotations({
        examples: ["Zr8c0fJ7t2n5v1k4x9q3m6w0y8b2d5g7h1j4l7p0s3u"]
      })
    ),
    "A code of `POST /api/auth/codes`."
  )
}).annotations({ identifier: "CodeExchange" })

const AdminSession = Schema.Struct({
  id: field(Schema.String, "Names the session; it opens none.", "9f2c4b7d81e05a63"),
  userId: field(Schema.NullOr(Schema.String), "Person who has signed in; null: the administrator.", null),
  current: field(Schema.Boolean, "Whether it is the session that asks.", true),
  via: field(
    Schema.Literal(...sessionWays),
    "How it began: by the password, by a code of the owner's, by an issuer that signed a person in, or at the command line of a person who has allowed it in the browser.",
    "password"
  ),
  address: field(Schema.String, "Address it began from; empty: not known.", "127.0.0.1"),
  userAgent: field(
    Schema.String,
    "What the browser called itself, or the machine with the command line, cut; empty: nothing.",
    "Mozilla/5.0"
  ),
  createdAt: field(Schema.String, "When it began, ISO 8601.", exampleTime),
  lastSeenAt: field(Schema.String, "When it was used last, to five minutes, ISO 8601.", exampleTime),
  expiresAt: field(Schema.String, "When it ends at the latest, ISO 8601.", exampleTime)
}).annotations({ identifier: "AdminSession" })

export const AdminSessions = Schema.Struct({
  sessions: field(Schema.Array(AdminSession), "The valid sessions, the one used last first."),
  total: field(Schema.Number, "How many there are.", 1)
}).annotations({ identifier: "AdminSessions" })

const EndedSessions = Schema.Struct({
  ended: field(Schema.Number, "How many sessions ended.", 2)
}).annotations({ identifier: "EndedSessions" })

export const Me = Schema.Struct({
  principal: field(
    Schema.Struct({
      type: field(
        Schema.Literal(...principalTypes),
        "Who asks: an admin session, an API key, the admin key, the owner of the data folder, or a caller without a credential."
      ),
      id: field(Schema.NullOr(Schema.String), "Id of the session or key; null: the others have none.", exampleKeyId),
      name: field(Schema.NullOr(Schema.String), "Name of the key; null: the others have none.", "laptop")
    }),
    "Who asks."
  ),
  credential: field(
    Schema.Struct({
      type: field(Schema.Literal("cookie", "bearer", "none"), "What said so.", "bearer"),
      prefix: field(Schema.NullOr(Schema.String), "First characters of the API key; null: it is none.", "gw_Zr8c0f"),
      expiresAt: field(
        Schema.NullOr(Schema.String),
        "When it ends at the latest, ISO 8601; null: it does not end by itself.",
        exampleTime
      )
    }),
    "The credential that was used."
  ),
  role: field(
    Schema.Literal("owner", "admin", "manager", "member", "anonymous"),
    "What that comes to: `admin` by session, admin key or scope `admin`, `manager` by scope `manage`, `member` any other API key.",
    "member"
  ),
  scopes: field(Schema.Array(Schema.String), "Scopes of the API key; of others empty.", ["self:usage"]),
  person: field(
    Schema.NullOr(
      Schema.Struct({
        id: field(Schema.String, "Id of the person.", exampleId),
        name: field(Schema.NullOr(Schema.String), "Name of the person.", "Ada"),
        role: field(Schema.NullOr(Schema.Literal(...userRoles)), "Role of the person.", "member")
      })
    ),
    "The person that the API key belongs to, or who has signed in; null: none.",
    null
  ),
  content: field(
    Schema.NullOr(
      Schema.Struct({
        teamId: field(Schema.String, "Id of the team of the key.", exampleTeamId),
        readers: field(
          Schema.Literal(...contentReaders),
          "Who may see the prompts and answers of the key's requests: `none`: nobody, `admins`: those who administer the gateway, `leads`: these, and leads of the team.",
          "none"
        ),
        notice: field(
          Schema.String,
          "What members of the team are told about that.",
          noticeOf({ content: "none", contentNotice: null })
        )
      })
    ),
    "The team's setting for prompts and answers; null: the API key is of no team, or it is none.",
    null
  ),
  rights: field(
    Schema.Record({
      key: Schema.Literal(...operations),
      value: Schema.Literal(...reaches).annotations({ description: "Part of the gateway that the operation reaches." })
    }),
    "What the caller may do on the management routes, and for which part of the gateway: `own`: what belongs to the person, `team`: that, and what belongs to the person's teams and those below them.",
    { ...reachesOf(() => "none"), readKeys: "own", readFigures: "own" }
  ),
  tiers: field(
    Schema.Array(Schema.Literal(...callerTiers)),
    "Kinds of routes that this very request could have read, its connection counted in; what a tier takes is in the documentation of the API. With a session, changes take the CSRF token as well.",
    ["public", "inference", "known", "self"]
  ),
  limits: field(
    Schema.NullOr(
      Schema.Struct({
        allowedModels: field(Schema.Array(Schema.String), "Models or patterns; empty: every model.", ["openai/*"]),
        blockedModels: field(Schema.Array(Schema.String), "Models or patterns that are refused.", []),
        allowedCombos: field(Schema.Array(Schema.String), "Combos or patterns; empty: every combo.", []),
        allowedProviders: field(Schema.Array(Schema.String), "Providers; empty: every provider.", []),
        allowedEndpoints: field(Schema.Array(Schema.String), "Kinds of requests; empty: every kind.", ["chat"]),
        maxRequestsPerMinute: field(Schema.NullOr(Schema.Number), "Requests in a minute; null: no limit.", 60),
        maxRequestsPerDay: field(Schema.NullOr(Schema.Number), "Requests in a day; null: no limit.", null)
      })
    ),
    "What an API key is held to; null: the others are held to nothing. `GET /api/usage/me` has budgets and what is used."
  )
}).annotations({ identifier: "Me" })

const at = endpointsOf("auth")

export class Auth extends HttpApiGroup.make("auth")
  .annotate(OpenApi.Title, "Sessions")
  .annotate(OpenApi.Description, "Admin sessions: a password for a cookie and a CSRF token.")
  .add(
    at("me", {
      summary: "Show who asks",
      description:
        "Who the caller is, by which credential, and what it may do. For every credential, an API key without scopes too; without one it says what anybody may."
    }).addSuccess(Me)
  )
  .add(
    at("login", {
      summary: "Log in as administrator",
      description:
        "Answers the CSRF token and sets the HttpOnly cookie `gateway_session`, over TLS `__Host-gateway_session` (below a path of a proxy `__Secure-gateway_session`). After several wrong passwords the caller has to wait (429)."
    })
      .setPayload(
        Schema.Struct({
          password: field(
            Schema.Redacted(
              Schema.String.pipe(Schema.maxLength(200)).annotations({ examples: ["correct horse battery staple"] })
            ),
            "The admin password (`GATEWAY_ADMIN_PASSWORD` at the first start)."
          )
        }).annotations({ identifier: "LoginRequest" })
      )
      .addSuccess(LoggedIn)
      .addError(TooManyRequestsAnswer)
  )
  .add(
    at("logout", {
      summary: "Log out",
      description: "Ends the session of the cookie, or the login at the command line that asks."
    }).addSuccess(NoContent)
  )
  .add(
    at("session", {
      summary: "Show whether a session is valid",
      description: "For pages that are loaded anew; 401 without a session. A page of another site is told nothing."
    }).addSuccess(SessionState)
  )
  .add(
    at("changePassword", {
      summary: "Change the admin password",
      description:
        "For a session, with the present password, or without one where none was ever set; wrong ones count as wrong logins do. Every other session ends."
    })
      .setPayload(ChangePassword)
      .addSuccess(NoContent)
      .addError(TooManyRequestsAnswer)
  )
  .add(
    at("setPassword", {
      summary: "Set the admin password",
      description:
        "For the owner of the data folder only, by the token that the running gateway writes there. Every session ends. The password before is not asked for: it may be forgotten."
    })
      .setPayload(NewPassword)
      .addSuccess(NoContent)
  )
  .add(
    at("issueCode", {
      summary: "Make a code for one login",
      description:
        "For the owner of the data folder only, who hands it to a browser of this machine; that gets a session for it. It counts once, for a minute."
    }).addSuccess(OneTimeCode)
  )
  .add(
    at("exchangeCode", {
      summary: "Log in with a code",
      description:
        "Only over a direct connection from this machine, and, where the system says it (Linux), from a program of the user who runs the gateway. Answers as the login does, and sets the same cookie. Wrong codes count as wrong passwords do."
    })
      .setPayload(CodeExchange)
      .addSuccess(LoggedIn)
      .addError(TooManyRequestsAnswer)
  )
  .add(
    at("listSessions", {
      summary: "List the admin sessions",
      description: "Those that are valid, with where they began."
    }).addSuccess(AdminSessions)
  )
  .add(
    at("endSession", { summary: "End an admin session", description: "Its cookie counts no more at once." })
      .setPath(
        Schema.Struct({ id: field(Schema.String.pipe(Schema.maxLength(64)), "The session's id.", "9f2c4b7d81e05a63") })
      )
      .addSuccess(NoContent)
      .addError(NotFoundAnswer)
  )
  .add(
    at("endSessions", {
      summary: "End all other admin sessions",
      description: "All but the one that asks; all, where a key asks."
    }).addSuccess(EndedSessions)
  ) {}
