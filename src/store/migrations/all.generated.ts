/** Every migration in the order of its number. A static record, so that the bundle needs no files at run time. Written by `bin/subjects.mjs`: do not edit. */
import init from "./0001_init.ts"
import resilience from "./0002_resilience.ts"
import envCredential from "./0003_env_credential.ts"
import routingMemory from "./0004_routing_memory.ts"
import names from "./0005_names.ts"
import quotaUse from "./0006_quota_use.ts"
import modelLists from "./0007_model_lists.ts"
import decisions from "./0008_decisions.ts"
import ledger from "./0009_ledger.ts"
import keySettings from "./0010_key_settings.ts"
import webhooks from "./0011_webhooks.ts"
import usageSums from "./0012_usage_sums.ts"
import cloudSync from "./0013_cloud_sync.ts"
import auditLog from "./0014_audit_log.ts"
import evals from "./0015_evals.ts"
import fineCosts from "./0016_fine_costs.ts"
import mediaPaths from "./0017_media_paths.ts"
import files from "./0018_files.ts"
import searchCounts from "./0019_search_counts.ts"
import batches from "./0020_batches.ts"
import registeredKeys from "./0021_registered_keys.ts"
import mediaJobs from "./0022_media_jobs.ts"
import answeredFrom from "./0023_answered_from.ts"
import answerCache from "./0024_answer_cache.ts"
import memories from "./0025_memories.ts"
import rawOutputs from "./0026_raw_outputs.ts"
import memoryBlocks from "./0027_memory_blocks.ts"
import compressionCounts from "./0028_compression_counts.ts"
import answerMeanings from "./0029_answer_meanings.ts"
import memoryVectors from "./0030_memory_vectors.ts"
import mcpCalls from "./0031_mcp_calls.ts"
import mcpServers from "./0032_mcp_servers.ts"
import proxies from "./0033_proxies.ts"
import tunnels from "./0034_tunnels.ts"
import inspector from "./0035_inspector.ts"
import bridge from "./0036_bridge.ts"
import playground from "./0037_playground.ts"
import plugins from "./0038_plugins.ts"
import webhookMail from "./0039_webhook_mail.ts"
import usageFacets from "./0040_usage_facets.ts"
import presetOwners from "./0041_preset_owners.ts"
import toldTokens from "./0042_told_tokens.ts"
import costNotes from "./0043_cost_notes.ts"
import limitThresholds from "./0044_limit_thresholds.ts"
import usagePrincipal from "./0045_usage_principal.ts"
import sessionOrigin from "./0046_session_origin.ts"
import usageSeries from "./0047_usage_series.ts"
import usageNames from "./0048_usage_names.ts"
import webhookRetries from "./0049_webhook_retries.ts"
import callersOfWork from "./0050_callers_of_work.ts"
import configChanges from "./0051_config_changes.ts"
import people from "./0052_people.ts"
import ownUsage from "./0053_own_usage.ts"
import bills from "./0054_bills.ts"
import nodes from "./0055_nodes.ts"
import limitLeases from "./0056_limit_leases.ts"
import claims from "./0057_claims.ts"
import issuers from "./0058_issuers.ts"
import toldHealth from "./0059_told_health.ts"
import tags from "./0060_tags.ts"
import rates from "./0061_rates.ts"
import rowNode from "./0062_row_node.ts"
import scim from "./0063_scim.ts"
import reports from "./0064_reports.ts"
import logins from "./0065_logins.ts"
import quietHours from "./0066_quiet_hours.ts"

export const migrations = {
  "0001_init": init,
  "0002_resilience": resilience,
  "0003_env_credential": envCredential,
  "0004_routing_memory": routingMemory,
  "0005_names": names,
  "0006_quota_use": quotaUse,
  "0007_model_lists": modelLists,
  "0008_decisions": decisions,
  "0009_ledger": ledger,
  "0010_key_settings": keySettings,
  "0011_webhooks": webhooks,
  "0012_usage_sums": usageSums,
  "0013_cloud_sync": cloudSync,
  "0014_audit_log": auditLog,
  "0015_evals": evals,
  "0016_fine_costs": fineCosts,
  "0017_media_paths": mediaPaths,
  "0018_files": files,
  "0019_search_counts": searchCounts,
  "0020_batches": batches,
  "0021_registered_keys": registeredKeys,
  "0022_media_jobs": mediaJobs,
  "0023_answered_from": answeredFrom,
  "0024_answer_cache": answerCache,
  "0025_memories": memories,
  "0026_raw_outputs": rawOutputs,
  "0027_memory_blocks": memoryBlocks,
  "0028_compression_counts": compressionCounts,
  "0029_answer_meanings": answerMeanings,
  "0030_memory_vectors": memoryVectors,
  "0031_mcp_calls": mcpCalls,
  "0032_mcp_servers": mcpServers,
  "0033_proxies": proxies,
  "0034_tunnels": tunnels,
  "0035_inspector": inspector,
  "0036_bridge": bridge,
  "0037_playground": playground,
  "0038_plugins": plugins,
  "0039_webhook_mail": webhookMail,
  "0040_usage_facets": usageFacets,
  "0041_preset_owners": presetOwners,
  "0042_told_tokens": toldTokens,
  "0043_cost_notes": costNotes,
  "0044_limit_thresholds": limitThresholds,
  "0045_usage_principal": usagePrincipal,
  "0046_session_origin": sessionOrigin,
  "0047_usage_series": usageSeries,
  "0048_usage_names": usageNames,
  "0049_webhook_retries": webhookRetries,
  "0050_callers_of_work": callersOfWork,
  "0051_config_changes": configChanges,
  "0052_people": people,
  "0053_own_usage": ownUsage,
  "0054_bills": bills,
  "0055_nodes": nodes,
  "0056_limit_leases": limitLeases,
  "0057_claims": claims,
  "0058_issuers": issuers,
  "0059_told_health": toldHealth,
  "0060_tags": tags,
  "0061_rates": rates,
  "0062_row_node": rowNode,
  "0063_scim": scim,
  "0064_reports": reports,
  "0065_logins": logins,
  "0066_quiet_hours": quietHours
}
