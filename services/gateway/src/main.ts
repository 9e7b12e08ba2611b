// The gateway: the only public door. Run it as `node --import @lead-scoring/service/telemetry dist/main.js`.
import { createLogger, loadConfiguration, runService } from '@lead-scoring/service';
import { gatewayConfiguration } from './configuration.js';
import { openGateway } from './gateway.js';

const configuration = loadConfiguration(gatewayConfiguration);
const logger = createLogger({ name: 'gateway', level: configuration.LOG_LEVEL });

runService({
  name: 'gateway',
  logger,
  shutdownDelayMs: configuration.SHUTDOWN_DELAY_MS,
  shutdownTimeoutMs: configuration.SHUTDOWN_TIMEOUT_MS,
  readyFile: configuration.READY_FILE,
  open: (scope) =>
    openGateway(configuration, scope, {
      logger,
      onFatal: (error) => {
        scope.fatal(error);
      },
    }),
});
