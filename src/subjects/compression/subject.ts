/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const compression = subject("compression", {
  skill: "gw-compression",
  routes: {
    settings: manage("GET", "/api/settings/compression"),
    setSettings: manage("PUT", "/api/settings/compression"),
    preview: manage("POST", "/api/compression/preview"),
    rules: manage("GET", "/api/compression/rules"),
    analytics: manage("GET", "/api/context/analytics"),
    languagePacks: manage("GET", "/api/compression/language-packs")
  }
})
