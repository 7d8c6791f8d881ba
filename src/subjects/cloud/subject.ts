/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const cloud = subject("cloud", {
  skill: "gw-sync-cloud",
  handlers: "traffic",
  routes: {
    auth: manage("POST", "/api/cloud/auth"),
    putCredentials: manage("PUT", "/api/cloud/credentials/update"),
    updateCredentials: manage("POST", "/api/cloud/credentials/update"),
    resolveModel: manage("POST", "/api/cloud/model/resolve"),
    aliases: manage("GET", "/api/cloud/models/alias"),
    putAlias: manage("PUT", "/api/cloud/models/alias"),
    setAlias: manage("POST", "/api/cloud/models/alias")
  }
})
