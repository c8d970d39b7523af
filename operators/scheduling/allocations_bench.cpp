#include "base/counting_new.h"
