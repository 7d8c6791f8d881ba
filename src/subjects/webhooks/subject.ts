/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const webhooks = subject("webhooks", {
  skill: "gw-webhooks",
  routes: {
    list: manage("GET", "/api/webhooks"),
    create: manage("POST", "/api/webhooks"),
    get: manage("GET", "/api/webhooks/:id"),
    update: manage("PUT", "/api/webhooks/:id"),
    remove: manage("DELETE", "/api/webhooks/:id"),
    test: manage("POST", "/api/webhooks/:id/test"),
    deliveries: manage("GET", "/api/webhooks/:id/deliveries"),
    retry: manage("POST", "/api/webhooks/:id/deliveries/:deliveryId/retry")
  }
})
