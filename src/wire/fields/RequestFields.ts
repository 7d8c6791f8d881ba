/** Fields of requests. Each row is one thing a client can set. */
import { settingFields } from "./SettingFields.ts"
import { speechFields } from "./SpeechFields.ts"
import { toolFields } from "./ToolFields.ts"

export const requestFields = [...speechFields, ...toolFields, ...settingFields] as const

export type RequestFieldId = (typeof requestFields)[number]["id"]
