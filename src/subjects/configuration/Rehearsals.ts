/**
 * A copy of the configuration in memory, with the services that change it: what is done there is judged by the same rules and changes nothing
 * of the gateway. So a whole plan is tried before any of it is carried out, and `--dry-run` answers what would happen.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { ApiKeys } from "../auth/ApiKeys.ts"
import type { AuditLog } from "../auth/AuditLog.ts"
import type { GatewaySettings } from "../flags/StoredFlags.ts"
import type { StoreError } from "../../store/Errors.ts"
import type { PriceBook } from "../../observe/usage/PriceBook.ts"
import type { CloudSync } from "../sync/service.ts"
import type { Combos } from "../combos/service.ts"
import type { Connections } from "../connections/service.ts"
import type { IssueReports } from "../issueReports/service.ts"
import type { Keys } from "../keys/service.ts"
import type { McpServers } from "../mcpServers/service.ts"
import type { ModelAliases } from "../aliases/service.ts"
import type { ProviderNodes } from "../nodes/service.ts"

/** Services that change the copy. Its audit log keeps nothing. */
export type Rehearsed =
  | ApiKeys
  | AuditLog
  | CloudSync
  | Combos
  | Connections
  | GatewaySettings
  | IssueReports
  | Keys
  | McpServers
  | ModelAliases
  | PriceBook
  | ProviderNodes

export class Rehearsals extends Context.Tag("gateway/subjects/configuration/Rehearsals")<
  Rehearsals,
  {
    /** The copy lives as long as the scope. `withKeys`: with the API keys, of which there may be many. */
    readonly open: (options: {
      readonly withKeys: boolean
    }) => Effect.Effect<Context.Context<Rehearsed>, StoreError, Scope.Scope>
  }
>() {}
