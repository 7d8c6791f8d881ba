/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { ingest, loopback } from "../../contract/tiers/Tiers.ts"

export const inspector = subject("inspector", {
  skill: "gw-usage-logs",
  handlers: "traffic",
  routes: {
    list: loopback("GET", "/api/tools/traffic-inspector/requests"),
    clear: loopback("DELETE", "/api/tools/traffic-inspector/requests"),
    get: loopback("GET", "/api/tools/traffic-inspector/requests/:id"),
    annotate: loopback("PUT", "/api/tools/traffic-inspector/requests/:id/annotation"),
    replay: loopback("POST", "/api/tools/traffic-inspector/requests/:id/replay"),
    replayDirect: loopback("POST", "/api/tools/traffic-inspector/requests/:id/replay-direct"),
    conversation: loopback("GET", "/api/tools/traffic-inspector/requests/:id/conversation"),
    anatomy: loopback("GET", "/api/tools/traffic-inspector/requests/:id/anatomy"),
    diff: loopback("GET", "/api/tools/traffic-inspector/requests/:id/diff/:other"),
    cache: loopback("GET", "/api/tools/traffic-inspector/requests/:id/cache"),
    cacheBreaks: loopback("GET", "/api/tools/traffic-inspector/cache-breaks"),
    code: loopback("GET", "/api/tools/traffic-inspector/requests/:id/export"),
    preset: loopback("GET", "/api/tools/traffic-inspector/requests/:id/preset"),
    har: loopback("GET", "/api/tools/traffic-inspector/export.har"),
    jsonl: loopback("GET", "/api/tools/traffic-inspector/export.jsonl"),
    modes: loopback("GET", "/api/tools/traffic-inspector/capture-modes"),
    gateway: loopback("POST", "/api/tools/traffic-inspector/capture-modes/gateway"),
    sessions: loopback("GET", "/api/tools/traffic-inspector/sessions"),
    startSession: loopback("POST", "/api/tools/traffic-inspector/sessions"),
    importSession: loopback("POST", "/api/tools/traffic-inspector/sessions/import"),
    session: loopback("GET", "/api/tools/traffic-inspector/sessions/:id"),
    changeSession: loopback("PATCH", "/api/tools/traffic-inspector/sessions/:id"),
    removeSession: loopback("DELETE", "/api/tools/traffic-inspector/sessions/:id"),
    sessionHar: loopback("GET", "/api/tools/traffic-inspector/sessions/:id/export.har"),
    sessionJsonl: loopback("GET", "/api/tools/traffic-inspector/sessions/:id/export.jsonl"),
    ingest: ingest("POST", "/api/tools/traffic-inspector/internal/ingest"),
    feed: loopback("GET", "/api/tools/traffic-inspector/ws")
  }
})
