/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const memory = subject("memory", {
  skill: "gw-context-rtk",
  routes: {
    list: manage("GET", "/api/memory"),
    create: manage("POST", "/api/memory"),
    health: manage("GET", "/api/memory/health"),
    reindex: manage("POST", "/api/memory/reindex"),
    preview: manage("POST", "/api/memory/retrieve-preview"),
    get: manage("GET", "/api/memory/:id"),
    update: manage("PUT", "/api/memory/:id"),
    patch: manage("PATCH", "/api/memory/:id"),
    remove: manage("DELETE", "/api/memory/:id"),
    settings: manage("GET", "/api/settings/memory"),
    setSettings: manage("PUT", "/api/settings/memory")
  }
})
