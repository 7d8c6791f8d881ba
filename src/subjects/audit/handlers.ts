/** `/api/compliance/audit-log`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { Audit } from "./routes.ts"
import type { AuditEntry, AuditQuery } from "./routes.ts"
import { AuditLog } from "../auth/AuditLog.ts"
import type { AuditFilter, AuditRow } from "./entity.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { iso } from "../../entry/handling/Views.ts"

const usualLimit = 100

const entryOf = ({ timestampMs, ...row }: AuditRow): AuditEntry => ({
  ...row,
  timestamp: iso(timestampMs),
  requestId: row.id
})

const filterOf = ({ from, limit: _limit, offset: _offset, to, ...texts }: AuditQuery): AuditFilter => ({
  ...texts,
  ...(from === undefined ? {} : { fromMs: Date.parse(from) }),
  ...(to === undefined ? {} : { toMs: Date.parse(to) })
})

export const layer = HttpApiBuilder.group(contractOf(Audit), "audit", (handlers) =>
  Effect.map(AuditLog, (audit) =>
    handlers.handle("list", ({ urlParams }) => {
      const { limit = usualLimit, offset = 0 } = urlParams
      return Effect.map(answered(audit.page(filterOf(urlParams), limit, offset)), ({ rows, total }) =>
        HttpServerResponse.unsafeJson(rows.map(entryOf), {
          headers: { "X-Total-Count": String(total), "X-Page-Limit": String(limit), "X-Page-Offset": String(offset) }
        })
      )
    })
  )
)
