/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const modelCatalog = subject("modelCatalog", {
  skill: "gw-models",
  handlers: "usual",
  routes: {
    list: manage("GET", "/api/models/catalog")
  }
})
