/** Admin sessions (docs/reference/http-api.md, "Authentication"). */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as Schema from "effect/Schema"
import { endpointsOf } from "../Endpoints.ts"
import { TooManyRequestsAnswer } from "../Errors.ts"
import { NoContent } from "../Inputs.ts"

/** The answer also sets an HttpOnly cookie; unsafe requests with it send the token as `X-CSRF-Token`. */
const LoggedIn = Schema.Struct({ csrfToken: Schema.String, expiresAt: Schema.String })

const at = endpointsOf("auth")

export class Auth extends HttpApiGroup.make("auth")
  .add(
    at("login")
      .setPayload(Schema.Struct({ password: Schema.Redacted(Schema.String.pipe(Schema.maxLength(200))) }))
      .addSuccess(LoggedIn)
      .addError(TooManyRequestsAnswer)
  )
  .add(at("logout").addSuccess(NoContent)) {}
