/** `/api/policies`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { Policies } from "./routes.ts"
import { Login } from "../auth/Login.ts"

export const layer = HttpApiBuilder.group(contractOf(Policies), "policies", (handlers) =>
  Effect.map(Login, (login) =>
    handlers
      .handle("get", () => Effect.map(login.locked, (lockedIdentifiers) => ({ lockedIdentifiers })))
      .handle("act", ({ payload: { identifier } }) =>
        Effect.as(login.unlock(identifier), { success: true as const, action: "unlocked" as const, identifier })
      )
      .handle("clear", () =>
        Effect.flatMap(login.locked, ({ length }) =>
          Effect.as(login.unlock(null), { success: true as const, cleared: length })
        )
      )
  )
)
