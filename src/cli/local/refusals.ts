/** Errors of the management services, worded for the command line. */
import type { ManagementError } from "../../subjects/Errors.ts"
import type { StoreFailure } from "../../store/Errors.ts"
import { BadArgument, CommandFailed } from "../Failure.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"

/** `describe` puts a failure of the store into a sentence. */
export const refusal = (
  error: ManagementError | StoreFailure,
  describe: (failure: StoreFailure) => string
): BadArgument | CommandFailed => {
  switch (error._tag) {
    case "UnknownProvider":
      return new BadArgument({
        message: `The provider '${error.provider}' is not known.`,
        hint: "See 'gateway providers available --search <text>'."
      })
    case "InvalidInput":
    case "SettingsContradict":
      return new BadArgument({
        message: error.problems.map(({ field, message }) => `${field} ${asSentence(message)}`).join(" ")
      })
    case "EntityNotFound":
    case "NameTaken":
    case "ComboInUse":
    case "PrefixInUse":
    case "ConnectionLimitReached":
    case "ConnectionReadOnly":
    case "TooManyWebhooks":
    case "TooManyProxies":
    case "FreeProxiesOff":
    case "TooManySecrets":
    case "TooManyMcpServers":
    case "TooManyRuns":
    case "TooManySuites":
    case "MemoryIsFull":
    case "SuiteReadOnly":
    case "RunIsOver":
    case "IssueLimitReached":
    case "IdempotencyConflict":
    case "KeyRevoked":
    case "TrackerNotConfigured":
      return new BadArgument({ message: error.message })
    case "RestoreRefused":
      return new BadArgument({ message: error.message })
    case "BackupFailed":
    case "CloudSyncFailed":
    case "SignInFailed":
    case "IssueNotReported":
    case "TooManySignIns":
    case "RestartRefused":
    case "ModelsNotListed":
    case "ReadRefused":
    case "FreeProxiesNotListed":
      return new CommandFailed({ message: error.message })
    default:
      return new CommandFailed({ message: describe(error) })
  }
}
