import { body, type Route } from '../../route.js';

const routes: Route[] = [
  {
    method: 'POST',
    path: '/v1/admin/test-clock',
    status: [200],
    summary: 'Move the manual clock',
    document: 'mutation SetIdentityClock($input: SetClockInput!) { result: setIdentityClock(input: $input) { now } }',
    variables: { input: body() },
  },
];

export default routes;
