/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const backups = subject("backups", {
  skill: "gw-db-backups",
  routes: {
    list: manage("GET", "/api/db-backups"),
    create: manage("PUT", "/api/db-backups"),
    restore: manage("POST", "/api/db-backups", "replace"),
    export: manage("GET", "/api/db-backups/export"),
    import: manage("POST", "/api/db-backups/import", "replace"),
    exportAll: manage("GET", "/api/db-backups/exportall")
  }
})
