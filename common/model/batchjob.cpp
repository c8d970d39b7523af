#include "model/batchjob.h"

namespace esi::model {

bool is_final(std::string_view state) {
    return state == job_state::completed || state == job_state::failed ||
           state == job_state::failed_submission;
}

}  // namespace esi::model
