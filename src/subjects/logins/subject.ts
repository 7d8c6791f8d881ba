/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { open, session } from "../../contract/tiers/Tiers.ts"

export const logins = subject("logins", {
  skill: "gw-auth",
  routes: {
    begin: open("POST", "/api/logins"),
    token: open("POST", "/api/logins/token"),
    look: session("POST", "/api/logins/look", "ownSession"),
    answer: session("POST", "/api/logins/answer", "ownSession")
  }
})
