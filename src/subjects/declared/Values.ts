/** JSON values, for the commands that read and write files of a configuration. */
export { isArray, isObject, type Json, type JsonObject, objectOr, parseJson, stringOr } from "../../wire/json/Json.ts"
